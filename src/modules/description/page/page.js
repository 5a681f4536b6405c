// Runs in the browser, after the viewer's own script.

const dark = matchMedia('(prefers-color-scheme: dark)')
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
follow()
dark.addEventListener('change', follow)

/** A link for each part of the API. Scrolled by hand: the viewer keeps the address's hash for itself. */
function linkParts() {
  const links = [...document.querySelectorAll('.opblock-tag')].map(part => {
    const link = document.createElement('a')
    link.href = `#/${part.dataset.tag}`
    link.textContent = part.dataset.tag
    link.addEventListener('click', event => {
      event.preventDefault()
      part.scrollIntoView({ block: 'start' })
    })
    return link
  })
  document.querySelector('#parts').replaceChildren(...links)
}

/** The viewer's own button stands below a long introduction, and leads to the last of its fields. */
function linkAuthorize() {
  const button = document.querySelector('#authorize')
  button.addEventListener('click', () => {
    document.querySelector('.auth-wrapper .authorize').click()
    setTimeout(() => document.querySelector('.auth-container input')?.focus())
  })
  button.hidden = false
}

window.SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#description',
  onComplete() {
    linkParts()
    linkAuthorize()
  },
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  // Its badge would show the document to another host.
  validatorUrl: null,
})
