/** What tests use of this other program that reads and writes XLIFF. */
declare module 'xliff' {
  interface Translated {
    sourceLanguage: string
    targetLanguage: string
    resources: Record<string, Record<string, { source: string; target?: string }>>
  }
  export function xliff2js(text: string): Promise<Translated>
  export function js2xliff(texts: Translated): Promise<string>
}
