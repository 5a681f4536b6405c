/** Texts about links for seeing a draft on the real page. */
export const pagePreviewWords = {
  open: 'Preview on page',
  title: 'Preview the draft on your page',
  why: 'Whoever has the link sees the draft as it is stored at each load, marked as a preview, on pages of this one origin. Nothing is counted.',
  unsaved: 'What is not saved is not shown: save first.',
  address: 'Address of the page',
  addressHint:
    'The snippet has to be on it. The preview goes on over pages, for as long as the tab.',
  make: 'Make the link',
  link: 'link to the preview',
  until: (time: string) => `It works until ${time}. It is shown this once.`,
  openPage: 'Open the page',
  oldSnippet: (seen: string, needed: string) =>
    `The snippet that was seen last is version ${seen}, which shows no previews: it needs ${needed} or newer.`,
  working: 'Links that work',
  by: (who: string, page: string, time: string) => `${who}, for ${page}, until ${time}`,
  end: 'End',
  endNamed: (who: string) => `End the link of ${who}`,
} as const
