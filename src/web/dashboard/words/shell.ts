/** Names of pages for texts that are still here. */
export const shellWords = {
  pages: { settings: 'Settings', audit: 'Audit log', server: 'Server' },
} as const
