import type { Flow } from '../parts.ts'

/** What visitors see as the name of a flow: its title, if it has one, because its name is for its team. */
export const headingOf = ({ title, name }: Flow): string => title ?? name
