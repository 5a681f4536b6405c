/** What a picture imported `with { type: 'file' }` is: its path, in the executable or on disk. */
declare module '*.webp' {
  const path: string
  export default path
}
