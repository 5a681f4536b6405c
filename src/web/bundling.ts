import { readFileSync } from 'node:fs'

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
const lexerAlone: Bun.BunPlugin = {
  name: 'lexer alone',
  setup(build) {
    build.onLoad({ filter: /marked\.esm\.js$/ }, ({ path }) => {
      const whole = readFileSync(path, 'utf8')
      const contents = whole.replace(
        /var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\([\s\S]*export\{[^}]*?(\w+) as Lexer[\s\S]*$/,
        'export{$2 as Lexer}',
      )
      if (contents === whole) throw new Error(`${path} does not end as it did: look for its Lexer`)
      return { contents, loader: 'js' }
    })
  },
}

/** Shortens style sheets, because they stand in template strings, which no bundler looks into. */
const shortStyles: Bun.BunPlugin = {
  name: 'short styles',
  setup(build) {
    build.onLoad({ filter: /styles\.ts$/ }, ({ path }) => {
      const short = (css: string) =>
        css
          .replace(/\/\*[\s\S]*?\*\//g, '')
          .replace(/\s+/g, ' ')
          .replace(/ ?([{};,]) ?|(:) /g, '$1$2')
          .replaceAll(';}', '}')
      const contents = readFileSync(path, 'utf8').replace(/`[^`]*`/g, short)
      return { contents, loader: 'ts' }
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
  plugins: [lexerAlone, shortStyles],
})
process.stdout.write(await outputs[0]!.text())
