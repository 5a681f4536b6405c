// Runs in the browser, in the head of the manual's pages and of the API page: the colours are there
// before anything is shown. The dashboard keeps the same choice under the same name.

const root = document.documentElement
const systemDark = matchMedia('(prefers-color-scheme: dark)')
const appearanceKey = 'cairn-appearance'

/** Where a browser keeps nothing for pages, the switch holds for this one. */
let appearance = null
try {
  appearance = localStorage.getItem(appearanceKey)
} catch {}

const isDark = () => (appearance ? appearance === 'dark' : systemDark.matches)

function applyAppearance() {
  if (appearance) root.dataset.appearance = appearance
  // The viewer of the API's description knows only this.
  root.classList.toggle('dark-mode', isDark())
  const button = document.querySelector('#theme')
  if (button) button.textContent = isDark() ? 'Light' : 'Dark'
}

applyAppearance()
systemDark.addEventListener('change', applyAppearance)

document.addEventListener('DOMContentLoaded', () => {
  const button = document.querySelector('#theme')
  button.addEventListener('click', () => {
    appearance = isDark() ? 'light' : 'dark'
    try {
      localStorage.setItem(appearanceKey, appearance)
    } catch {}
    applyAppearance()
  })
  button.hidden = false
  applyAppearance()
})
