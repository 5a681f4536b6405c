import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { migrate } from '../src/storage/sqlite/database/migrate.ts'
import * as schema from '../src/storage/sqlite/database/schema.ts'

/** The shape of the house: which part may lean on which, and that nothing lies about unused. */

const src = resolve(import.meta.dir, '../src')

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => relative(src, join(entry.parentPath, entry.name)))
  .filter(file => !file.endsWith('.d.ts'))
  .sort()

const sources = files.filter(file => /\.tsx?$/.test(file))

const textOf = new Map(sources.map(file => [file, readFileSync(join(src, file), 'utf8')]))

/** Without comments, in which anything may be named. */
const codeOf = (file: string) =>
  textOf
    .get(file)!
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')

/** What a file imports: ours as paths below `src`, packages by name. */
function importsOf(file: string, code = codeOf(file)): { ours: string[]; packages: string[] } {
  const named = [...code.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g)]
  const all = named.map(([, name = '']) => name)
  return {
    ours: all
      .filter(name => name.startsWith('.'))
      .map(name => relative(src, resolve(src, dirname(file), name))),
    packages: all.filter(name => !name.startsWith('.')),
  }
}

/** As it runs: types are gone by then. */
const withoutTypes = (code: string) => code.replace(/^(im|ex)port type [^']*'[^']+'/gm, '')

/** The part of the house that a file belongs to: a folder, a module, or the file itself. */
function partOf(file: string): string {
  const [first = '', second = ''] = file.split('/')
  return first === 'modules' ? `modules/${second}` : first.replace(/\.ts$/, '')
}

/** Every import of ours that `isAllowed` does not let through, as `from → to`. */
const offences = (
  of: (file: string) => boolean,
  isAllowed: (to: string, file: string) => boolean,
) =>
  sources.filter(of).flatMap(file =>
    importsOf(file)
      .ours.filter(to => partOf(to) !== partOf(file) && !isAllowed(to, file))
      .map(to => `${file} → ${to}`),
  )

const inPart = (part: string) => (file: string) => partOf(file) === part
const toAny =
  (...parts: string[]) =>
  (to: string) =>
    parts.includes(partOf(to))

describe('arrows point one way', () => {
  const isModule = (to: string) => to.startsWith('modules/')
  /** What storage offers, as its callers know it. */
  const isInterface = (to: string) => to.startsWith('storage/interfaces/')
  const isSchema = (to: string) => /^modules\/[^/]+\/schema\.ts$/.test(to)
  const isDashboard = (file: string) => file.startsWith('web/dashboard/')
  /** The compiled files that each of these modules may import. */
  const compiled: Record<string, readonly string[]> = {
    'modules/snippet': ['web/snippet-files.ts'],
    'modules/installation': ['web/snippet-files.ts'],
    'modules/manual': ['manual/compile.ts', 'manual/pictures.ts'],
    'modules/dashboard': ['web/dashboard-files.ts'],
  }
  const earlyParts = ['process-one', 'production-mode', 'test-clock']
  const snippetFiles = ['web/snippet/api.ts', 'web/snippet/calls.ts', 'web/snippet/uuid.ts']
  const belowRuntime = [
    ...['app', 'storage', 'limits', 'config', 'failpoints', 'core', 'scheduling'],
    ...['production-mode', 'test-clock'],
  ]

  /** Which files of other parts each part may import. */
  const allowed: Record<string, (to: string, file: string) => boolean> = {
    core: toAny(),
    scheduling: toAny(),
    limits: toAny('core', 'scheduling'),
    config: toAny('core'),
    failpoints: toAny('config'),
    brand: toAny('core'),
    manual: toAny('core', 'config', 'brand'),
    storage: toAny('core', 'scheduling', 'failpoints'),
    http: to => toAny('core', 'scheduling')(to) || isInterface(to),
    web: (to, file) =>
      toAny('core')(to) || (isDashboard(file) && (isSchema(to) || isInterface(to))),
    sdk: to => snippetFiles.includes(to),
    app: to => toAny('core', 'http')(to) || isModule(to) || isInterface(to),
    runtime: to =>
      toAny(...belowRuntime)(to) ||
      to === 'http/session-tokens.ts' ||
      to === 'web/snippet-files.ts',
    cli: to => to !== 'main.ts',
    main: toAny('cli', ...earlyParts),
    ...Object.fromEntries(earlyParts.map(part => [part, toAny()])),
  }
  const modules = sources.map(partOf).filter(part => part.startsWith('modules/'))
  for (const part of modules) {
    allowed[part] = to =>
      toAny('core', 'http', 'scheduling', 'brand')(to) ||
      isModule(to) ||
      isInterface(to) ||
      (compiled[part] ?? []).includes(to)
  }

  test('each part imports only the parts below it', () => {
    expect(Object.keys(allowed).sort()).toEqual([...new Set(sources.map(partOf))].sort())
    const found = Object.entries(allowed).flatMap(([part, isAllowed]) =>
      offences(inPart(part), isAllowed),
    )
    expect(found).toEqual([])
  })

  test('the dashboard imports from the server only types, so no browser loads its code', () => {
    const loading = sources.filter(isDashboard).flatMap(file =>
      importsOf(file, withoutTypes(codeOf(file)))
        .ours.filter(to => isModule(to) || isInterface(to))
        .map(to => `${file} → ${to}`),
    )
    expect(loading).toEqual([])
  })

  test('modules leave to the thread of flows what takes long about them', () => {
    const long = ['file', 'lint', 'text', 'difference', 'theme-file'].map(
      name => `core/flow/${name}.ts`,
    )
    const doing = sources
      .filter(file => file.startsWith('modules/'))
      .flatMap(file =>
        importsOf(file, withoutTypes(codeOf(file)))
          .ours.filter(to => long.includes(to))
          .map(to => `${file} → ${to}`),
      )
    expect(doing).toEqual([])
  })

  test('no file imports itself in a circle, types included', () => {
    const state = new Map<string, 'open' | 'done'>()
    const circles: string[] = []
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'open') circles.push([...path, file].join(' → '))
      if (state.has(file) || !textOf.has(file)) return
      state.set(file, 'open')
      // What is imported later waits for nothing, and nothing waits for it.
      const imported = codeOf(file).replace(/\bimport\('[^']+'\)/g, '')
      for (const to of importsOf(file, imported).ours) visit(to, [...path, file])
      state.set(file, 'done')
    }
    for (const file of sources) visit(file, [])
    expect(circles).toEqual([])
  })

  test('no folder of core imports itself in a circle, types included', () => {
    const folderOf = (file: string) => /^core\/([^/]+)\//.exec(file)?.[1]
    const below = new Map<string, Set<string>>()
    for (const file of sources) {
      const folder = folderOf(file)
      if (folder === undefined) continue
      const others = importsOf(file)
        .ours.map(folderOf)
        .filter(to => to !== undefined)
      below.set(folder, (below.get(folder) ?? new Set()).union(new Set(others)))
    }
    const reached = (folder: string) => {
      const found = new Set<string>()
      const due = [...(below.get(folder) ?? [])].filter(to => to !== folder)
      for (let next = due.pop(); next !== undefined; next = due.pop()) {
        if (found.has(next)) continue
        found.add(next)
        due.push(...below.get(next)!)
      }
      return found
    }
    expect([...below.keys()].filter(folder => reached(folder).has(folder))).toEqual([])
  })
})

test('tests → scripts → src: no kit leans on a test, and nothing of the product on a kit', () => {
  const root = resolve(src, '..')
  const offenders = (folder: string, forbidden: RegExp) =>
    [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(root)].flatMap(file => {
      const imported = [
        ...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g),
      ]
      return imported
        .map(([, name = '']) => relative(root, resolve(root, dirname(file), name)))
        .filter(to => forbidden.test(to))
        .map(to => `${file} → ${to}`)
    })
  expect(offenders('scripts', /^test\//)).toEqual([])
  expect(offenders('src', /^(test|scripts)\//)).toEqual([])
})

describe('technologies stay in their place', () => {
  const users = (isIt: (name: string) => boolean) =>
    sources.filter(file => importsOf(file).packages.some(isIt))

  test.each<[what: string, name: RegExp, place: RegExp]>([
    [
      'Elysia is imported only in app.ts, http/ and the routes.ts of modules',
      /^(elysia|@elysiajs)/,
      /^(app\.ts$|http\/|modules\/[^/]+\/routes\.ts$)/,
    ],
    [
      'the OpenID library is imported only in modules/dashboard/open-id.ts',
      /^oauth4webapi$/,
      /^modules\/dashboard\/open-id\.ts$/,
    ],
    [
      'the mail library is imported only in runtime/mailer.ts',
      /^nodemailer$/,
      /^runtime\/mailer\.ts$/,
    ],
    [
      'no database library is imported in core, http, modules or app',
      /^(bun:sqlite|drizzle-orm)/,
      /^(?!(core|http|modules|app)\b)/,
    ],
  ])('%s', (_, name, place) => {
    const found = users(imported => name.test(imported))
    expect(found).not.toBeEmpty()
    expect(found.filter(file => !place.test(file))).toEqual([])
  })

  test('SQLite in storage/sqlite, in the lock, and in the doctor, who opens what is damaged; the log knows nothing of it', () => {
    const places = /^(storage\/sqlite\/|runtime\/lock\.ts$|cli\/doctor\/)/
    const users = sources.filter(file => importsOf(file).packages.includes('bun:sqlite'))
    expect(users.filter(file => !places.test(file))).toEqual([])
    const engine = (file: string) => file.startsWith('storage/sqlite/')
    const leaning = sources
      .filter(file => /^storage\/(shared|log)\//.test(file))
      .flatMap(file => importsOf(file).ours.filter(engine))
    expect(leaning).toEqual([])
  })

  test('SQL in storage/, and in the lock, which is SQLite’s own', () => {
    const sql =
      /\b(select\s[^;]{1,300}?\sfrom\s|insert (or \w+ )?into|update \w+ set|delete from|create (table|index|trigger)|alter table|pragma \w|begin (immediate|exclusive)|savepoint \w)/i
    // A browser has none, and a part called Select.
    const isElsewhere = (file: string) =>
      !file.startsWith('storage/') && !file.endsWith('.tsx') && file !== 'runtime/lock.ts'
    const outside = sources.filter(file => isElsewhere(file) && sql.test(codeOf(file)))
    expect(outside).toEqual([])
  })

  test('row numbers in storage/ and in what counts its writes', () => {
    const outside = sources.filter(
      file =>
        !file.startsWith('storage/') &&
        (importsOf(file).ours.includes('storage/shared/in-rows.ts') ||
          /\b(org|flow|step|item)Rows?\b|\bas (unknown as )?\w+Ref\b/.test(codeOf(file))),
    )
    expect(outside).toEqual(['runtime/counters.ts'])
  })

  test('nothing below the server reads the environment: configuration is handed in', () => {
    const readers = sources.filter(
      file =>
        /^(core|http|modules|storage|app)\b/.test(file) &&
        /\b(process\.env|Bun\.env)\b/.test(codeOf(file)),
    )
    expect(readers).toEqual([])
  })

  test('no module and no core reads the machine’s clock: time is handed in', () => {
    const clocks = sources.filter(
      file =>
        /^(core|limits|modules|http|storage|app)\b/.test(file) &&
        /\bDate\.now\b|new Date\(\)/.test(codeOf(file)),
    )
    expect(clocks).toEqual([])
  })

  test('core is pure: it schedules nothing, shares no memory, reads no file and no other clock', () => {
    const impure =
      /\b(performance\.now|set(Timeout|Interval|Immediate)|Bun\.(sleep|file|write)|SharedArrayBuffer|Atomics|process\.)\b|from 'node:fs'/
    expect(sources.filter(file => /^core\//.test(file) && impure.test(codeOf(file)))).toEqual([])
  })
})

test('the conformance suite of stores leans on none of them, nor does what it leans on', () => {
  const suite = 'storage/conformance/conformance.ts'
  const reached = new Set<string>()
  const storages: string[] = []
  const reach = (file: string) => {
    if (reached.has(file)) return
    reached.add(file)
    const text = readFileSync(join(import.meta.dir, file), 'utf8')
    for (const [, name = ''] of text.matchAll(/from '([^']+)'/g)) {
      const to = relative(import.meta.dir, resolve(import.meta.dir, dirname(file), name))
      if (
        /^(bun:sqlite|drizzle-orm)/.test(name) ||
        /^\.\.\/src\/storage\/(?!interfaces\/)/.test(to)
      ) {
        storages.push(`${file} → ${name}`)
      } else if (name.startsWith('.') && !to.startsWith('..')) reach(to)
    }
  }
  reach(suite)
  expect(reached.size).toBeGreaterThan(10)
  expect(storages).toEqual([])
})

describe('tests wait for what they mean', () => {
  /** Files that sleep for a time, and why that can fail on no machine, however slow. */
  const reasons: Record<string, string> = {
    'contract/names.ts': 'a day that ends during the rows is waited for',
    'process/backup.test.ts': 'looks in the background, which leave no sign',
    'process/log.test.ts': 'the pace of requests',
    'process/person.test.ts': 'a kill at any moment',
    'runtime/identity-provider.test.ts': 'a provider that is slow',
    'storage/sqlite/replica/failures.test.ts': 'what must not be done meanwhile leaves no sign',
    'support/browser.ts': 'a profile that the browser never closes',
    'support/settling.ts': 'a page that hangs never settles',
    'web/dashboard-screens.ts': 'the pace of screens that are left open',
    'web/snippet-cost.ts': 'what a page does at its start, which leaves no sign',
  }

  test('and none sleeps for a time, but for a reason', () => {
    const sleep =
      /\bBun\.sleep(Sync)?\((?!0\))|\bwaitForTimeout\(|=>\s*\{?\s*setTimeout\((resolve|done)\b|timers\/promises/
    const sleepers = [...new Bun.Glob('**/*.ts').scanSync(import.meta.dir)].filter(
      file =>
        !file.includes('node_modules') &&
        file !== 'architecture.test.ts' &&
        sleep.test(readFileSync(join(import.meta.dir, file), 'utf8')),
    )
    expect(sleepers.sort()).toEqual(Object.keys(reasons).sort())
  })
})

test('every file is reached from the entry, from a thread’s, or from one that browsers load', () => {
  const threads = ['task-thread', 'flow-thread', 'checkpoint-thread']
  for (const thread of threads) expect(codeOf('runtime/threads.ts')).toContain(`'${thread}'`)
  const scripts = [
    ...['page', 'renderer', 'headless', 'module', 'timing', 'inspection/inspection'],
    ...['stage/question', 'stage/video'],
  ]
  for (const script of scripts) expect(codeOf('web/bundle.ts')).toContain(`'${script}.ts'`)
  expect(codeOf('web/bundle.ts')).toContain("'../author/author.ts'")
  expect(codeOf('web/bundle.ts')).toContain("'../preview/preview.ts'")
  expect(codeOf('web/bundling.ts')).toContain("'snippet/given-natives.ts'")
  expect(codeOf('web/dashboard-bundle.ts')).toContain("'main.tsx'")
  const framed = 'authoring/preview/frame/frame.ts'
  expect(codeOf('web/dashboard-bundle.ts')).toContain(`'${framed}'`)
  expect(codeOf('web/dashboard-bundle.ts')).toContain("'styles/main.css'")
  expect(codeOf('brand/bundle.ts')).toContain("'brand.css'")
  const mainStyle = readFileSync(join(src, 'web/dashboard/styles/main.css'), 'utf8')
  const styles = [...mainStyle.matchAll(/"\.\/([^"]+)"/g)]
  const packed = ['browser', 'react', 'vue', 'node'].map(name => `sdk/${name}`)
  const reached = new Set<string>([
    ...['web/snippet/tsconfig.json', 'web/dashboard/tsconfig.json', 'sdk/tsconfig.json'],
    ...packed.flatMap(folder => [`${folder}/package.json`, `${folder}/README.md`]),
    'brand/brand.css',
    // What each part of the engine is for, what it costs, and what was measured.
    ...['', 'run-blocks/'].map(part => `storage/sqlite/engine/${part}README.md`),
    ...['main.css', ...styles.map(([, name]) => name)].map(name => `web/dashboard/styles/${name}`),
  ])
  const reach = (file: string) => {
    if (reached.has(file)) return
    reached.add(file)
    if (textOf.has(file)) importsOf(file).ours.forEach(reach)
  }
  const entries = [
    'main.ts',
    ...threads.map(thread => `runtime/${thread}.ts`),
    ...scripts.map(script => `web/snippet/${script}.ts`),
    'web/author/author.ts',
    'web/bundling.ts',
    'web/snippet/given-natives.ts',
    'web/preview/preview.ts',
    'web/dashboard/main.tsx',
    `web/dashboard/${framed}`,
    ...packed.map(folder => `${folder}/index.ts`),
  ]
  entries.forEach(reach)
  expect(files.filter(file => !reached.has(file))).toEqual([])
})

describe('the tables as Drizzle knows them are those that the migrations make', () => {
  const database = new Database(':memory:', { strict: true })
  migrate(database)
  const tables = Object.values(schema as Record<string, unknown>).filter(value =>
    is(value, SQLiteTable),
  ) as SQLiteTable[]

  const all = <Row>(sql: string) => database.query<Row, []>(sql).all()

  test.each(tables.map(table => [getTableConfig(table).name, table] as const))(
    '%s: columns, types, what may be null',
    (name, table) => {
      const { columns } = getTableConfig(table)
      const made = all<{ name: string; type: string; notnull: number; pk: number }>(
        `select name, type, "notnull", pk from pragma_table_info('${name}') order by cid`,
      )
      expect(
        columns.map(column => ({
          name: column.name,
          type: column.getSQLType(),
          isRequired: column.notNull,
        })),
      ).toEqual(
        made.map(column => ({
          name: column.name,
          type: column.type.toLowerCase(),
          isRequired: column.notnull === 1 || column.pk > 0,
        })),
      )
    },
  )
})

/** What draws over a line of a terminal, asks on it, or streams what has its escapes or is for a pipe. */
const writers = ['api', 'output', 'people', 'person', 'progress', 'program']

test('the command line writes through one place, which lets nothing raw pass', () => {
  const writing = /\bstd(out|err)\.write|console\.|write\(process\.stdout/
  const found = sources.filter(file => file.startsWith('cli/') && writing.test(codeOf(file)))
  expect(found.filter(file => !file.startsWith('cli/demo/site/')).sort()).toEqual(
    writers.map(name => `cli/${name}.ts`).sort(),
  )
})

test('no file of the dashboard is longer than 200 lines', () => {
  const long = files.filter(
    file =>
      file.startsWith('web/dashboard/') &&
      !file.endsWith('.css') &&
      readFileSync(join(src, file), 'utf8').split('\n').length > 201,
  )
  expect(long).toEqual([])
})
