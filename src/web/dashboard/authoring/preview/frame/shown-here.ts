import type { MaybeTheme } from '../../../../../core/flow/merged-theme.ts'
import type { Flow } from '../../../../snippet/parts.ts'

/** A flow as it can be shown in the preview, which is on no page of the customer's. */

/**
 * A step that names its page is shown as if on that page, because there is no other page here. No rule
 * leaves a step out, because each is here to be seen.
 */
export const withoutPages = (flow: Flow): Flow => ({
  ...flow,
  theme: withLogosThatLoad(flow.theme),
  steps: flow.steps.map(({ page: _, navigate: __, when: ___, ...step }) => step),
})

/** A logo that is relative to the visitor's page cannot load here, so no room is left for it. */
export function withLogosThatLoad<Of extends MaybeTheme>(theme: Of): Of {
  if (!theme) return theme
  const { logo, dark: { logo: darkLogo, ...dark } = {}, ...rest } = theme
  const loads = (address?: string) => address?.startsWith('https:')
  return {
    ...rest,
    ...(loads(logo) && { logo }),
    ...(theme.dark && { dark: { ...dark, ...(loads(darkLogo) && { logo: darkLogo }) } }),
  } as Of
}
