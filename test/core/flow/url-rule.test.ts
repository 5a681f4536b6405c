import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { UrlRule } from '../../../src/core/flow/flow.ts'
import { patternProblem } from '../../../src/core/flow/url-pattern.ts'
import { matchesOnlyRoot, urlMatches } from '../../../src/core/flow/url-rule.ts'
import { rounds } from '../../support/rounds.ts'

const app = 'https://app.example.com'

const matches = (match: UrlRule['match'], pattern: string, url: string) =>
  urlMatches({ match, pattern }, new URL(url))

describe('exact', () => {
  test.each([
    ['/projects', `${app}/projects`, true],
    ['/projects', 'http://localhost:3000/projects', true],
    ['/projects', `${app}/projects/`, false],
    ['/projects', `${app}/projects/1`, false],
    ['/projects', `${app}/Projects`, false],
    ['/projects', `${app}/projects?tab=1#top`, true],
    ['/', app, true],
    ['/', `${app}/projects`, false],
    [`${app}/projects`, `${app}/projects`, true],
    [`${app}/projects`, 'https://other.example.com/projects', false],
    [`${app}/projects`, 'http://app.example.com/projects', false],
    [`${app}/projects`, `${app}:8443/projects`, false],
    [app, `${app}/`, true],
    ['HTTPS://APP.Example.COM/projects', `${app}/projects`, true],
    ['https://app.example.com:443/projects', `${app}/projects`, true],
    ['http://app.example.com:443/', 'https://app.example.com/', false],
    [
      'chrome-extension://abcdefghijklmnop/panel.html',
      'chrome-extension://abcdefghijklmnop/panel.html',
      true,
    ],
    ['https://müller.example/', 'https://xn--mller-kva.example/', true],
    ['/über', `${app}/%C3%BCber`, true],
    ['/%c3%bcber', `${app}/über`, true],
    ['/%41bc', `${app}/Abc`, true],
    ['/a%2Fb', `${app}/a/b`, false],
    ['/a%2Fb', `${app}/a%2fb`, true],
    ['/search?q=a', `${app}/search?q=a`, true],
    ['/search?q=a', `${app}/search?q=a#top`, true],
    ['/search?q=a', `${app}/search?q=a&p=2`, false],
    ['/search?q=a', `${app}/search`, false],
    ["/search?q='a'", `chrome-extension://abcdefghijklmnop/search?q='a'`, true],
    ['/#/projects', `${app}/#/projects`, true],
    ['/#/projects', `${app}/?utm=1#/projects`, true],
    ['/#/projects', `${app}/#/projects?tab=1`, false],
    ['/#/projects?tab=1', `${app}/?utm=1#/projects?tab=1`, true],
    ['/?a=1#/projects', `${app}/?a=1#/projects`, true],
    ['/?a=1#/projects', `${app}/#/projects`, false],
    ['/a%2A', `${app}/a*`, true],
    ['/a%2A', `${app}/ab`, false],
    ['http://[::1]:3000/', 'http://[0:0:0:0:0:0:0:1]:3000/', true],
    ['projects', `${app}/projects`, false],
    ['app.example.com/projects', `${app}/projects`, false],
    ['', app, false],
    ['https://', app, false],
    [`${app}@evil.test/`, 'https://evil.test/', false],
  ])('%s and %s: %p', (pattern, url, expected) => {
    expect(matches('exact', pattern, url)).toBe(expected)
  })
})

describe('prefix', () => {
  test.each([
    ['/', `${app}/projects/1`, true],
    ['/projects', `${app}/projects/1`, true],
    ['/projects/', `${app}/projects`, false],
    ['/projects/', `${app}/projects/1`, true],
    [app, `${app}/projects`, true],
    [app, `${app}.evil.test/`, false],
    [app, `${app}:8443/`, false],
    [`${app}/projects`, `${app}/project`, false],
    ['https://app', `${app}/`, false],
    ['/search?q=', `${app}/search?q=a`, true],
    ['/search?', `${app}/search?q=a`, true],
    ['/search?', `${app}/search`, false],
    ['/search?', `${app}/searches`, false],
    ['/#/projects', `${app}/?utm=1#/projects/7`, true],
    ['/#/projects', `${app}/projects`, false],
    ['/.well', `${app}/.well-known/a`, true],
    [`${app}@evil.test`, 'https://evil.test/', false],
  ])('%s and %s: %p', (pattern, url, expected) => {
    expect(matches('prefix', pattern, url)).toBe(expected)
  })
})

describe('glob', () => {
  test.each([
    ['/projects/*', `${app}/projects/1`, true],
    ['/projects/*', `${app}/projects`, false],
    ['/projects/*', `${app}/projects/1/edit`, false],
    ['/projects/*/edit', `${app}/projects/1/edit`, true],
    ['/projects/*/edit', `${app}/projects/1/2/edit`, false],
    ['/projects/**', `${app}/projects/1/edit`, true],
    ['/projects/**/edit', `${app}/projects/edit`, false],
    ['/projects***', `${app}/projects/1/2`, true],
    ['/**/edit', `${app}/a/edit`, true],
    ['/*', `${app}/a/b`, false],
    ['/a.c', `${app}/abc`, false],
    ['/a+(b)[c]', `${app}/a+(b)[c]`, true],
    ['/a%2A', `${app}/a*`, true],
    ['/a%2A', `${app}/ab`, false],
    ['/über/*', `${app}/%c3%bcber/x`, true],
    ['https://*.example.com/**', `${app}/projects/1`, true],
    ['https://*.example.com/**', 'https://example.com/', false],
    ['https://*.example.com/**', 'https://evil.test/.example.com/', false],
    ['https://*.Example.COM', app, true],
    ['https://*.example.com:443/', app, true],
    ['http://*.example.com:443/', 'http://app.example.com:443/', true],
    ['https://*.example.com:*/', `${app}:8443/`, true],
    ['https://*.example.com:*/', app, false],
    ['https://*', `${app}/projects`, false],
    ['https://**', `${app}/projects`, true],
    ['https://*?a=*', `${app}/?a=b`, true],
    ['*://app.example.com/*', 'http://app.example.com/x', true],
    ['*-extension://*/panel.html', 'moz-extension://0000-1111/panel.html', true],
    ['**', `${app}/any/thing?at=all#x`, true],
    ['**/settings', `${app}/a/settings?x=1`, true],
    ['**.example.com/über', `${app}/über`, true],
    ['*', app, false],
    [`${app}`, `${app}/`, true],
    ['/search?q=*', `${app}/search?q=a`, true],
    ['/search?q=*', `${app}/search?q=a/b`, false],
    ['/search?q=**', `${app}/search?q=a/b`, true],
    ['/**#/projects/*', `${app}/app/?utm=1#/projects/7`, true],
    ['https://*@evil.test/', 'https://evil.test/', false],
  ])('%s and %s: %p', (pattern, url, expected) => {
    expect(matches('glob', pattern, url)).toBe(expected)
  })

  test('costs at most pattern length times address length, whatever the pattern', () => {
    // Trying every way in which the stars could divide the address would practically never end.
    const pattern = `/${'*a**b'.repeat(400)}c`
    expect(matches('glob', pattern, `${app}/${'ab'.repeat(1_000)}`)).toBe(false)
  })

  test('agrees with a regular expression that says the same', () => {
    const piece = fc.constantFrom('*', '**', '/', 'a', 'b', 'ab')
    const path = fc.array(fc.constantFrom('/', 'a', 'b'), { maxLength: 10 })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), path, (pieces, rest) => {
        const pattern = `/x${pieces.join('')}`
        const source = pattern.replace(/\*+/g, stars => (stars === '*' ? '[^/]*' : '.*'))
        const url = `/x${rest.join('')}`
        expect(matches('glob', pattern, app + url)).toBe(new RegExp(`^${source}$`).test(url))
      }),
    )
  })
})

describe('whatever the address', () => {
  const hostAndPath = fc.webUrl({ withQueryParameters: true, withFragments: true })
  const odd = fc.string({ unit: 'binary' }).map(text => `${app}/${text}`)
  const urls = fc
    .oneof(hostAndPath, odd)
    .filter(URL.canParse)
    .map(text => new URL(text))

  test('an exact rule made from it matches it', () => {
    fc.assert(fc.property(urls, url => urlMatches({ match: 'exact', pattern: url.href }, url)))
  })

  test('a prefix matches it and what goes on from it', () => {
    const endings = fc.stringMatching(/^[g-z]{0,8}$/)
    fc.assert(
      fc.property(urls, endings, (url, ending) => {
        const rule: UrlRule = { match: 'prefix', pattern: url.href }
        return urlMatches(rule, url) && urlMatches(rule, new URL(url.href + ending))
      }),
    )
  })

  test('a prefix that is an origin matches no other host', () => {
    fc.assert(
      fc.property(urls, fc.domain(), (url, domain) => {
        const { origin } = new URL(`https://${domain}`)
        return urlMatches({ match: 'prefix', pattern: origin }, url) === (url.origin === origin)
      }),
    )
  })

  test('a glob without a star is exact', () => {
    const patterns = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string().map(text => `/${text}`),
      urls.map(url => url.href),
    )
    fc.assert(
      fc.property(patterns, urls, (text, url) => {
        const pattern = text.replaceAll('*', '')
        const own = URL.canParse(pattern) ? new URL(pattern) : url
        return [url, own].every(
          address =>
            urlMatches({ match: 'glob', pattern }, address) ===
            urlMatches({ match: 'exact', pattern }, address),
        )
      }),
    )
  })

  test('no text is too odd for a pattern', () => {
    const matchers = fc.constantFrom('exact', 'prefix', 'glob')
    const scraps = fc.constantFrom(...'* ** / :// https @ : [ ? # % ü \\ \uD800'.split(' '), ' ')
    const patterns = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(scraps, { maxLength: 12 }).map(parts => parts.join('')),
    )
    fc.assert(
      fc.property(matchers, patterns, urls, (match, pattern, url) => {
        const rule = { match, pattern } as UrlRule
        expect(urlMatches(rule, url)).toBeBoolean()
        expect(matchesOnlyRoot(rule)).toBeBoolean()
        expect(patternProblem(rule) ?? 'none').toBeString()
      }),
      { numRuns: rounds(1_000) },
    )
  })
})

describe('patternFault', () => {
  test.each([
    ['exact', '/projects'],
    ['exact', app],
    ['exact', 'https://müller.example/über'],
    ['exact', 'chrome-extension://abcdefghijklmnop/panel.html'],
    ['exact', 'http://localhost:3000/#/projects?tab=1'],
    ['exact', 'http://[::1]:3000/'],
    ['exact', 'safari-web-extension://ABC/panel.html'],
    ['glob', '*-extension://**'],
    ['exact', '/a%2A/100%'],
    ['prefix', '/.well-known/'],
    ['prefix', '/search?path=../x'],
    ['glob', '**'],
    ['glob', '**/settings'],
    ['glob', '**.example.com/**'],
    ['glob', 'https://*.example.com:*/**'],
    ['glob', '*://192.168.*.*/'],
    ['glob', 'https://example.*'],
  ] as const)('%s %s: nothing wrong', (match, pattern) => {
    expect(patternProblem({ match, pattern })).toBeNull()
  })

  test.each([
    ['exact', '', /empty: write a path/],
    ['exact', '/my projects', /space.*%20/],
    ['exact', '/pro\njects', /control character/],
    ['exact', '\\projects', /backslash/],
    ['exact', '//app.example.com/', /two slashes/],
    ['exact', '/projects/*', /"exact" takes \*.*glob/],
    ['prefix', '/projects/*', /"prefix" takes \*.*glob/],
    ['exact', '/a/../b', /".." part/],
    ['glob', '**/../a', /".." part/],
    ['prefix', `${app}/./`, /".." part/],
    ['exact', 'app.example.com/projects', /did you mean https:\/\/app\.example\.com\/projects\?/],
    ['exact', 'localhost:3000', /did you mean https:\/\/localhost:3000\?/],
    ['exact', 'projects/new', /did you mean \/projects\/new\?/],
    ['exact', '?tab=1', /did you mean \/\?tab=1\?/],
    [
      'exact',
      'javascript:alert(1)',
      /No page that runs the snippet .* "javascript:"; write a path/,
    ],
    ['exact', 'ftp://x', /No page that runs the snippet .* "ftp:"/],
    ['prefix', 'file:///home/me/index.html', /No page that runs the snippet .* "file:"/],
    ['glob', 'ftp*://app.example/', /No page that runs the snippet/],
    ['prefix', 'data:text/html,x', /No page that runs the snippet/],
    ['exact', 'https:///x', /has no host/],
    ['exact', 'https:/app.example.com', /not an address with a scheme and a host/],
    ['exact', 'https:///projects', /no host/],
    ['exact', 'https://me@app.example.com/', /user name/],
    ['glob', 'https://*@app.example.com/', /user name/],
    ['exact', 'https://app.example.com:99999/', /port/],
    ['exact', 'https://exa%mple.com/', /host/],
    ['exact', 'https://[::1/', /host/],
    ['exact', 'https://1.2.3.400/', /host/],
    ['glob', 'https://*.exa|mple.com/', /host/],
    ['glob', 'https://*.müller.example/', /xn--/],
    ['glob', '*', /leading \*.*\*\*/],
    ['glob', `/${'*/'.repeat(11)}`, /more than 10 wildcards/],
    ['glob', '*.example.com/**', /write \*\*\.example\.com\/\*\*/],
    ['glob', 'example.com/**', /did you mean https:\/\/example\.com\/\*\*\?/],
  ] as const)('%s %j is faulted', (match, pattern, sentence) => {
    expect(patternProblem({ match, pattern })).toMatch(sentence)
  })
})

test('a kind of rule that only a newer Cairn knows matches nothing', () => {
  for (const pattern of ['/', '/projects', '**', `${app}/projects`]) {
    expect(matches('resembles' as never, pattern, `${app}/projects`)).toBe(false)
  }
})

describe('matchesOnlyRoot', () => {
  test.each([
    ['exact', '/', true],
    ['exact', app, true],
    ['exact', `${app}:443/`, true],
    ['glob', '/', true],
    ['glob', 'https://*.example.com', true],
    ['glob', '*://*:*/', true],
    ['prefix', '/', false],
    ['prefix', app, false],
    ['exact', '/projects', false],
    ['exact', '/#/projects', false],
    ['glob', '/*', false],
    ['glob', '**', false],
    ['glob', 'https://**', false],
    ['exact', 'nothing', false],
  ] as const)('%s %s: %p', (match, pattern, expected) => {
    expect(matchesOnlyRoot({ match, pattern })).toBe(expected)
  })
})
