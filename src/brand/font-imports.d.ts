/** What a font imported `with { type: 'file' }` is: its path, in the executable or on disk. */
declare module '*.woff2' {
  const path: string
  export default path
}
