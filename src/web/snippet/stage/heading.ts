import type { Flow } from '../parts.ts'

/** What visitors are told that a flow is; its name is its team's own. */
export const headingOf = ({ title, name }: Flow): string => title ?? name
