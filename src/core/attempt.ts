/** The result of `look`; or `otherwise` if it throws, whatever the reason. */
export function attempt<Found, Otherwise = Found>(
  look: () => Found,
  otherwise: Otherwise,
): Found | Otherwise {
  try {
    return look()
  } catch {
    return otherwise
  }
}
