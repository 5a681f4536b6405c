/** Texts for editing a flow's texts in other languages. */
export const languagesWords = {
  title: 'Languages',
  own: 'Written in',
  others: 'Other languages',
  othersHint:
    'A visitor reads the best for the language of your page, or of their browser. What is missing is shown in the language that the flow is written in.',
  first: 'Say first in which language the flow itself is written.',
  none: 'No other language yet.',
  language: 'Language',
  texts: 'Texts',
  files: 'For translators',
  told: (told: number, of: number) => `${told} of ${of}`,
  edit: (name: string) => `Edit ${name}`,
  xliff: 'XLIFF',
  json: 'JSON',
  download: (name: string, format: string) => `Download ${name} as ${format}`,
  remove: (name: string) => `Remove ${name}`,
  add: 'Add a language',
  addHint: 'As a tag, such as de, pt-BR or zh-Hant.',
  addButton: 'Add',
  isThere: 'The flow has this language already.',
  upload: 'Take over from a file',
  uploadHint: 'XLIFF says its language; JSON is taken for the language that is chosen below.',
  taken: (name: string, changed: number, unchanged: number) =>
    `${name}: ${changed} taken over, ${unchanged} as before.`,
  skipped: (count: number) =>
    count === 1
      ? '1 was left out, because the flow has changed since the export: '
      : `${count} were left out, because the flow has changed since the export: `,
  refused: (why: string) => `The file was not imported: ${why}.`,
  tooLarge: 'it is over 4 MiB',
  anchored: 'an anchor (&name) shares the texts with other places',
  textsIn: (name: string) => `Texts in ${name}`,
  untold: 'Not translated',
  noTexts: 'The flow has no text yet.',
} as const
