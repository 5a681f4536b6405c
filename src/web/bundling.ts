import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Bundles one script that pages load, and prints it. It is a program of its own, because it is needed
 * during a build, and a build cannot start another one.
 *
 * @param entry the file, then the format, and what is defined, as JSON
 */
const [entry = '', format, defined = '{}'] = process.argv.slice(2)

/**
 * marked is one file that creates a parser as it is loaded, so that a bundler would keep all of it. Only
 * the lexer is taken: without the rest, each visitor who sees a flow loads 4 KiB less.
 */
function lexerAlone(path: string, whole: string): string {
  if (!/marked\.esm\.js$/.test(path)) return whole
  const contents = whole.replace(
    /var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\([\s\S]*export\{[^}]*?(\w+) as Lexer[\s\S]*$/,
    'export{$2 as Lexer}',
  )
  if (contents === whole) throw new Error(`${path} does not end as it did: look for its Lexer`)
  return contents
}

/** Shortens style sheets, because they stand in template strings, which no bundler looks into. */
function shortStyles(path: string, whole: string): string {
  if (!/styles\.ts$/.test(path)) return whole
  const short = (css: string) =>
    css
      .replace(/\/\*[\s\S]*?\*\//g, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([{};,]) ?|(:) /g, '$1$2')
      .replaceAll(';}', '}')
  return whole.replace(/`[^`]*`/g, short)
}

/** Globals that `natives.ts` replaces, and the files that must not get them from there. */
const nativeNames = ['JSON', 'Promise']
const ofNatives = /snippet\/(?:given-natives|natives|safely)\.ts$/

/** Makes a module use these globals of the browser, even where the page has replaced them. */
function withNatives(path: string, whole: string): string {
  if (ofNatives.test(path)) return whole
  const used = nativeNames.filter(name => new RegExp(`(?<![.\\w$])${name}[.(<]`).test(whole))
  return used.length === 0
    ? whole
    : `import{${used.map(name => `Own${name} as ${name}`)}}from${JSON.stringify(natives)};${whole}`
}

const natives = join(import.meta.dir, 'snippet/natives.ts')
const givenNatives = { path: join(import.meta.dir, 'snippet/given-natives.ts') }
/** Files that pages load first. All others get the natives of the page's script, which loads them. */
const isAlone = ['page.ts', 'module.ts', 'cell.ts'].includes(basename(entry))

const sources: Bun.BunPlugin = {
  name: 'sources',
  setup(build) {
    if (!isAlone) build.onResolve({ filter: /\/natives\.ts$/ }, () => givenNatives)
    // Not other packages: Bun has to read their package.json, too, to know which of their code is unused.
    build.onLoad({ filter: /marked\.esm\.js$|\/src\/(?:core|web)\/.*\.ts$/ }, ({ path }) => {
      const steps = [lexerAlone, shortStyles, withNatives]
      const contents = steps.reduce((text, step) => step(path, text), readFileSync(path, 'utf8'))
      return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' }
    })
  },
}

const { outputs } = await Bun.build({
  entrypoints: [entry],
  target: 'browser',
  minify: true,
  format: format as 'iife' | 'esm',
  define: Object.fromEntries(
    Object.entries(JSON.parse(defined)).map(([name, value]) => [name, JSON.stringify(value)]),
  ),
  plugins: [sources],
})
process.stdout.write(await outputs[0]!.text())
