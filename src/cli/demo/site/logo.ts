/** Harbor's logo: an anchor and its name, in a colour. */
export const logo = (colour: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 118 28" fill="${colour}">
<path d="M4 17c4 8 17 8 21 0M14.500 9v15M9.500 13h10" fill="none" stroke="${colour}" stroke-width="2.600" stroke-linecap="round"/>
<circle cx="14.500" cy="6" r="2.600" fill="none" stroke="${colour}" stroke-width="2.200"/>
<text x="33" y="21" font-family="system-ui, sans-serif" font-size="19" font-weight="700">Harbor</text>
</svg>
`
