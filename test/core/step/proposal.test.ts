import { describe, expect, test } from 'bun:test'
import { judgeSelector, mayNamePerson } from '../../../src/core/step/proposal.ts'

describe('a proposed selector', () => {
  test.each([
    ['[data-testid="new"]', 'strong'],
    ['#new', 'strong'],
    ['[data-tour="new"]', 'strong'],
    ["[data-action='new-project']", 'strong'],
    ['[data-state="open"]', 'fair'],
    ['[data-tour="new"] button', 'fair'],
    ['main button[aria-label="New project"]', 'strong'],
    ['#main button', 'fair'],
    ['.profile', 'fair'],
    ['#new, .new', 'fair'],
    ['.css-1x2y3z', 'weak'],
    ['div > div > ul > li > button', 'weak'],
    ['button', 'weak'],
    ['//button', 'weak'],
    ['', 'weak'],
  ] as const)('%s is %s', (selector, grade) => {
    const judged = judgeSelector(selector)
    expect(judged.grade).toBe(grade)
    expect(judged.weaknesses.length > 0).toBe(grade === 'weak')
  })

  test('is marked if a text in it may name a person', () => {
    expect(judgeSelector('[aria-label="Account of Ann Miller"]').mayNamePerson).toBe(true)
    expect(judgeSelector("[title='ann@example.com']").mayNamePerson).toBe(true)
    expect(judgeSelector('[aria-label="Save Changes"]').mayNamePerson).toBe(false)
    expect(judgeSelector('#ann').mayNamePerson).toBe(false)
  })
})

test.each(['Ann Miller', 'Jörg Müller', "Ann's projects", 'ann@example.com', '+49 30 123 456 78'])(
  '%s may name a person',
  text => expect(mayNamePerson(text)).toBe(true),
)

test.each(['New project', 'Save Changes', 'Invite your team', 'View All Reports', '3 of 12', ''])(
  '%p names nobody',
  text => expect(mayNamePerson(text)).toBe(false),
)
