/** What is used of the optional package: types are checked on machines that bring their own browser too. */
declare module '@sparticuz/chromium' {
  /** Unpacks the browser from the folder `packed` into that for temporary files, and answers its path. */
  const chromium: { executablePath(packed: string): Promise<string> }
  export default chromium
  /** Unpacks one packed file into the folder for temporary files. */
  export function inflate(packedFile: string): Promise<string>
}
