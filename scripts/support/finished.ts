/** What a command printed, and its exit status. */
export interface Finished {
  status: number
  stdout: string
  stderr: string
}

/** Waits for the end of a command whose output is piped. */
export async function finished(
  child: Bun.Subprocess<'ignore' | 'inherit' | Blob | Buffer, 'pipe', 'pipe'>,
): Promise<Finished> {
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { status, stdout, stderr }
}
