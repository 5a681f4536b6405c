import { describe, expect, test } from 'bun:test'
import { fragileParts } from '../../../src/core/step/selector-fragility.ts'
import { readSelector } from '../../../src/core/step/selector-syntax.ts'

function weaknesses(selector: string, isNarrowed = false): string[] {
  const read = readSelector(selector)
  if ('fault' in read) throw new Error(`${selector}: ${read.fault}`)
  return fragileParts(read.tree, isNarrowed)
}

describe('a name that a build or framework made up is fragile', () => {
  test.each([
    ['.css-1a2b3c', '.css-1a2b3c'],
    ['.css-1aquho2-MuiTabs-indicator', '.css-1aquho2-MuiTabs-indicator'],
    ['.sc-bdVaJa', '.sc-bdVaJa'],
    ['.sc-AxjAm', '.sc-AxjAm'],
    ['.sc-1x2y3z4-0', '.sc-1x2y3z4-0'],
    ['header .Button_root__3xYzQ', '.Button_root__3xYzQ'],
    ['.styles__title___3xYzQ', '.styles__title___3xYzQ'],
    ['.index-module--title--2Y9Vb', '.index-module--title--2Y9Vb'],
    ['._root_1a2b3_5', '._root_1a2b3_5'],
    ['._1a2b3', '._1a2b3'],
    ['.jsx-123456', '.jsx-123456'],
    ['.go1234567890', '.go1234567890'],
    ['.svelte-1x2y3z', '.svelte-1x2y3z'],
    ['.r-1awozwy', '.r-1awozwy'],
    ['.makeStyles-root-12', '.makeStyles-root-12'],
    ['.MuiButton-root-123', '.MuiButton-root-123'],
    ['.ng-tns-c12-3', '.ng-tns-c12-3'],
    ['.btn-3f2a1b9c', '.btn-3f2a1b9c'],
    ['[class="css-1a2b3c"]', 'css-1a2b3c'],
    ['[data-v-7ba5bd90] .save', '[data-v-7ba5bd90]'],
    ['[_ngcontent-abc-c12]', '[_ngcontent-abc-c12]'],
    ['#radix-\\:r1\\:', '#radix-:r1:'],
    ['#\\:r3\\:', '#:r3:'],
    ['#«r1»', '#«r1»'],
    ['#_r_1_', '#_r_1_'],
    ['[id="radix-:R1abc:"]', 'radix-:R1abc:'],
    ['[aria-controls="radix-:r5:"]', 'radix-:r5:'],
    ['#headlessui-menu-button-12', '#headlessui-menu-button-12'],
    ['#ember123', '#ember123'],
    ['#react-select-2-input', '#react-select-2-input'],
    ['#downshift-0-toggle-button', '#downshift-0-toggle-button'],
    ['#mat-input-0', '#mat-input-0'],
    ['#cdk-overlay-3', '#cdk-overlay-3'],
    ['#mui-12345', '#mui-12345'],
    ['#rc_select_0', '#rc_select_0'],
    ['#__BVID__12', '#__BVID__12'],
    ['#ext-gen1042', '#ext-gen1042'],
    ['#order-1002345', '#order-1002345'],
    ['#item-123e4567-e89b-12d3-a456-426614174000', '#item-123e4567-e89b-12d3-a456-426614174000'],
    ['.menu:not(.css-1a2b3c)', '.css-1a2b3c'],
  ])('%s', (selector, part) => {
    expect(weaknesses(selector)).toEqual([
      `"${part}" looks made up by a build or framework and will change: point at a data-test or aria attribute, or at an id that is given by hand`,
    ])
  })
})

describe('a path through the structure is fragile', () => {
  test.each([
    ['.list li:nth-child(2) a:nth-of-type(3)', 'The selector counts elements in 2 places (:nth-…)'],
    [
      '#a tr:nth-child(2) > td:nth-last-child(1)',
      'The selector counts elements in 2 places (:nth-…)',
    ],
    [
      '#app > div > div > div > a',
      'The selector follows 5 or more elements from child to child (>)',
    ],
    ['.page nav > ul > li > a > span > b', 'The selector follows 5 or more elements'],
  ])('%s', (selector, beginning) => {
    expect(weaknesses(selector)).toEqual([expect.stringContaining(beginning)])
  })
})

describe('a bare tag is fragile', () => {
  test.each(['button', 'div > a', 'nav ul li', 'a:hover', 'li:nth-child(2)', '*', 'form button'])(
    '%s',
    selector => {
      expect(weaknesses(selector)).toEqual([
        expect.stringContaining('The selector says no more than any'),
      ])
      expect(weaknesses(selector, true)).toEqual([])
    },
  )
})

describe('classes that only say how an element looks are fragile', () => {
  test.each([
    '.mt-4',
    '.mt-4.flex.px-2',
    'div > .md\\:p-4',
    '.hover\\:bg-red-500',
    '.d-flex.row',
    '.gap-x-3:not(.mt-2)',
    '.w-\\[13px\\]',
    '.grid-cols-12',
  ])('%s', selector => {
    expect(weaknesses(selector)).toEqual([
      expect.stringContaining('say how the element looks, not which it is'),
    ])
  })

  test('but not where the step identifies the element by its text', () => {
    expect(weaknesses('.mt-4.flex', true)).toEqual([])
  })
})

describe('the page itself is not an element to point at', () => {
  test.each(['body', 'html', 'html > body', ':root', 'BODY'])('%s', selector => {
    expect(weaknesses(selector, true)).toEqual([
      expect.stringContaining('The selector is the whole page'),
    ])
  })
})

describe('what a person wrote is not fragile', () => {
  test.each([
    '#save',
    '#step2',
    '#section-2024',
    '#h1-title',
    '#mat-toolbar',
    '#radix',
    '#react-root',
    '#input-0',
    '.nav-2',
    '.btn-primary',
    '.block__element--modifier',
    '.Button_root__icon',
    '.--open',
    '.MuiButton-containedPrimary',
    '.css-button',
    '.css-grid2',
    '.sc-button-2',
    '.ng-star-inserted',
    '.md\\:flex',
    '.col-md-6',
    '.top-1\\/2',
    '._private',
    '.__item',
    '.js-step3',
    '.fa-500px',
    '.web3-wallet',
    '.utf8mb4',
    '.goToCart',
    '.svelte-app',
    '.jsx-editor',
    '.page-2024-q1',
    '.card_page2_1',
    '.sc-playButton',
    '.Header-nav-12',
    '#rc-1',
    '.user-profileMenuItem',
    '.navItem_isOpen',
    '[data-testid=save]',
    '[data-test="a1b2c3d4"]',
    '[aria-label="Help"]',
    '[class^="Button_root__"]',
    'button[type="submit"]',
    'main',
    'body.dark .task-add',
    '.grid',
    '.flex.toolbar',
    '.mt-4.save-button',
    '#tasks .mt-4',
    '.w-logo',
    'my-element',
    '.list li:nth-child(2)',
    '#nav > ul > li > a',
    'a[href="/settings"]',
  ])('%s', selector => {
    expect(weaknesses(selector)).toEqual([])
  })
})

test('each kind of weakness is reported once', () => {
  const told = weaknesses('.css-1a2b3c > div:nth-child(1) > div:nth-child(2), ._1a2b3, button')
  expect(told).toHaveLength(3)
})
