/** What a file imported `with { type: 'file' }` is: its path, in the executable or on disk. */

declare module '*.css' {
  const path: string
  export default path
}

declare module '*.svg' {
  const path: string
  export default path
}

declare module '*.js' {
  const path: string
  export default path
}
