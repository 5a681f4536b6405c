// Runs in the browser, after the viewer's own script.

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

/** The viewer's own button is below a long introduction, so the style hides it. */
function linkAuthorize() {
  const button = document.querySelector('#authorize')
  button.addEventListener('click', () => {
    document.querySelector('.auth-wrapper .authorize').click()
    // The viewer focuses the last of its fields.
    setTimeout(() => document.querySelector('.auth-container input')?.focus())
  })
  button.hidden = false
}

/** Shows the example of a parameter in its empty field. As a value it would be sent. */
const showExamples = () => ({
  wrapComponents: {
    JsonSchemaForm:
      (Form, { React }) =>
      props => {
        const name = props.description
        const example = props.schema?.get?.('examples')?.first?.()
        const shown = example === undefined ? props : { ...props, description: `e.g. ${example}` }
        const group = { role: 'group', 'aria-label': name }
        return React.createElement('div', group, React.createElement(Form, shown))
      },
  },
})

/**
 * Takes the security schemes as they are, because they have no references. To resolve them, the viewer
 * would go through the whole description before it shows anything: seconds.
 */
const takeSecuritySchemes = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        requestResolvedSubtree:
          (resolve, { specActions, specSelectors }) =>
          path =>
            path.join() === 'components,securitySchemes'
              ? specActions.updateResolvedSubtree(path, specSelectors.specJson().getIn(path))
              : resolve(path),
      },
    },
  },
})

window.SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#description',
  onComplete() {
    linkParts()
    linkAuthorize()
  },
  plugins: [showExamples, takeSecuritySchemes],
  deepLinking: true,
  // A pasted key or token is forgotten with the page.
  persistAuthorization: false,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 4,
  displayRequestDuration: true,
  // Its badge would show the document to another host.
  validatorUrl: null,
})
