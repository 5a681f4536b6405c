/** Harbor, the application of the demo. What it tells Cairn stands in calls of `cairn`. */

const { cairn } = window
const main = document.querySelector('main')

// As an application says in which language it is: `?lang=de`, of which the tour knows, and the pages not.
document.documentElement.lang = new URLSearchParams(location.search).get('lang') ?? 'en'

// Who is signed in, and what audience rules may ask for.
const userId = signedIn()
cairn.identify(userId, { role: 'owner', plan: 'team', teamSize: 3, daysSinceSignup: 3 })

const pages = {
  '/home': page('home-page'),
  '/projects': page('projects-page'),
  '/projects/atlas': page('project-page'),
  '/settings/people': page('people-page'),
  '/settings/notifications': page('notifications-page'),
}

// Where a tour leads to another page, that comes without a load, too.
cairn.on('navigate', event => {
  event.preventDefault()
  history.pushState(null, '', event.url)
  show()
})

/** Somebody of their own in each browser, until `?as=` signs somebody else in. */
function signedIn() {
  const asked = new URLSearchParams(location.search).get('as')
  const somebody = `you-${Math.random().toString(36).slice(2, 8)}`
  try {
    const user = asked ?? localStorage['harbor-user'] ?? somebody
    localStorage['harbor-user'] = user
    return user
  } catch {
    return asked ?? somebody
  }
}

function page(id) {
  return () => document.getElementById(id).content.cloneNode(true)
}

/** Shows the page of the address; as in most applications, without a load. */
function show() {
  const { pathname } = location
  main.replaceChildren((pages[pathname] ?? pages['/projects'])())
  for (const link of document.querySelectorAll('nav a')) {
    if (link.pathname === pathname) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
}

const columns = () => [...main.querySelectorAll('.column')]

function addTask(title) {
  const task = document.createElement('label')
  task.className = 'task'
  const box = document.createElement('input')
  box.type = 'checkbox'
  task.append(box, title)
  columns()[0]?.append(task)
}

const actions = {
  'new-project'() {
    cairn.track('project_created', { template: 'blank' })
    history.pushState(null, '', '/projects/atlas')
    show()
  },
  'add-task'() {
    addTask('A new task')
    cairn.track('task_created')
  },
  invite() {
    const field = main.querySelector('#address')
    if (!field.value) return field.focus()
    field.value = ''
    main.querySelector('#invited').textContent = 'The invitation is on its way.'
    cairn.track('teammate_invited')
  },
  look() {
    const root = document.documentElement
    const bySystem = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
    const { look = bySystem } = root.dataset
    root.dataset.look = look === 'dark' ? 'light' : 'dark'
  },
  help: () => cairn.start('welcome'),
}

document.addEventListener('click', event => {
  const link = event.target.closest('a[href^="/"]')
  if (link && pages[link.pathname] && !event.metaKey && !event.ctrlKey) {
    event.preventDefault()
    history.pushState(null, '', link.href)
    show()
    return
  }
  actions[event.target.closest('[data-action]')?.dataset.action]?.()
})
document.addEventListener('change', event => {
  if (event.target.matches('.task input:checked')) cairn.track('task_completed')
})
window.addEventListener('popstate', show)
show()
