/** What a setting is: how help names it, and how its text is read. */
export interface Setting<T> {
  /** Stands for the flag's value in a command's help. */
  placeholder: string
  /** As text, read by the same parser; null if there is none. */
  default: string | null
  /** What the manual shows instead of a default that depends on the machine. */
  defaultShown?: string
  help: string
  /** A secret has no flag, because other users of the machine see flags; it may come from a file. */
  secret?: boolean
  /** @returns the value, or what is wrong and what to do as `Wrong` */
  parse(text: string): T | Wrong
}

/** Why a text is not a valid value of a setting, and what to do. */
export class Wrong {
  /** @param is what is wrong with a secret, which cannot be shown */
  constructor(
    readonly advice: string,
    readonly is = 'is wrong',
  ) {}
}

/** A setting that always has a value. */
export const setting = <T>(definition: Setting<T>) => definition

/** A setting that may be absent. */
export const optional = <T>(definition: Omit<Setting<T>, 'default'>) =>
  ({ ...definition, default: null }) as Setting<T> & { default: null }
