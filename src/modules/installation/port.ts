/** What tells of an installation beyond what pages are told asks of storage. */
export interface SeenStore {
  /** Writes what is only noted in memory, so that it can be read; where nothing can be written, it does not. */
  write(): Promise<void>
}
