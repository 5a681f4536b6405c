/**
 * What stands above the text of the manual and the API page.
 *
 * @param root the relative address of the server's root, such as `../`
 * @param current which of the two pages it is
 * @param middle more of the header: the search, or the button for a token
 */
export const siteHeader = (root: string, current: 'Manual' | 'API', middle: string): string => {
  const link = (name: 'Manual' | 'API', path: string) =>
    `<a href="${root}${path}"${name === current ? ' aria-current="page"' : ''}>${name}</a>`
  return `<header class="site-header">
<a class="home" href="${root}docs"><img src="${root}api/v1/docs/icon.svg" alt="">Cairn</a>
${link('Manual', 'docs')}
${link('API', 'api/v1/docs')}
${middle}
<button id="theme" type="button" hidden></button>
</header>`
}

/** What the head of these pages loads. @param font the file's name of the font that they all need */
export const siteHead = (root: string, font: string): string =>
  `<link rel="preload" href="${root}docs/${font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${root}docs/brand.css">
<script src="${root}docs/brand.js"></script>`
