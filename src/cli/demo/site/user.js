/** Who is signed in: somebody of their own in each browser, until `?as=` signs somebody else in. */

const asked = new URLSearchParams(location.search).get('as')
const somebody = `you-${Math.random().toString(36).slice(2, 8)}`

function signedIn() {
  try {
    const user = asked ?? localStorage['harbor-user'] ?? somebody
    localStorage['harbor-user'] = user
    return user
  } catch {
    return asked ?? somebody
  }
}

export const userId = signedIn()
