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

/** The part of the description that a reference such as `#/components/schemas/Flow` names. */
const partAt = (spec, reference) =>
  spec.getIn(
    reference
      .slice('#/'.length)
      .split('/')
      .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~')),
  )

/** A part with what it refers to in place of its references, except inside of what they refer to. */
function resolved(spec, part, inside = []) {
  const reference = part?.get?.('$ref')
  if (typeof reference === 'string') {
    if (inside.includes(reference)) return part
    const found = resolved(spec, partAt(spec, reference), [...inside, reference])
    // The viewer takes a schema's name from there.
    return found.set('$$ref', reference)
  }
  return part?.map?.(inner => resolved(spec, inner, inside)) ?? part
}

/**
 * Resolves references here. The viewer would go through the whole description before it shows anything, and
 * once more whenever somebody opens an operation: seconds, in which the page does not respond.
 */
const resolveReferences = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        requestResolvedSubtree:
          (_, { specActions, specSelectors }) =>
          path => {
            if (specSelectors.specResolvedSubtree(path) !== undefined) return
            const spec = specSelectors.specJson()
            specActions.updateResolvedSubtree(path, resolved(spec, spec.getIn(path)))
          },
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
  plugins: [showExamples, resolveReferences],
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
