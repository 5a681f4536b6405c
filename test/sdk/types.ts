import type * as browser from '../../src/sdk/browser/index.ts'
import type * as node from '../../src/sdk/node/index.ts'
import type * as react from '../../src/sdk/react/index.ts'

/**
 * Applications may check with `exactOptionalPropertyTypes`, and pass on what they do not have as undefined. This
 * file is checked, with that option, by `tsc -p test/sdk`.
 */

/** The optional fields of what an application gives that do not take undefined. */
type Exact<Given> = {
  [Name in keyof Given]-?: Partial<Pick<Given, Name>> extends Pick<Given, Name>
    ? Record<Name, undefined> extends Pick<Given, Name>
      ? never
      : Name
    : never
}[keyof Given]

/** Compiles only for a type that has no value. */
declare function none<_Type extends never>(): void

export function takesUndefinedForWhatIsOptional(): void {
  none<Exact<browser.CairnOptions>>()
  none<Exact<browser.Settings>>()
  none<Exact<browser.Identity>>()
  none<Exact<react.CairnProviderProps>>()
  none<Exact<node.CairnClientOptions>>()
  none<Exact<node.Tracking>>()
  none<Exact<NonNullable<Parameters<node.CairnClient['flush']>[0]>>>()
}
