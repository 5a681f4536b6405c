import { useSignal } from '@preact/signals'
import type { CreatedToken, TokenList } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Check } from '../parts/choice.tsx'
import { Code } from '../parts/code.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { StatusMessage } from '../parts/status-message.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { accessWords } from '../words/access.ts'
import { formatAge } from '../words/time.ts'
import { NewToken } from './new-token.tsx'

const words = accessWords.tokens
type Token = TokenList['tokens'][number]

const stateOf = ({ revokedAt, expiresAt }: Token) => {
  if (revokedAt !== null) return 'revoked'
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : 'works'
}

const columns = (revoke: (token: Token) => void): Column<Token>[] => [
  {
    name: words.name,
    isTitle: true,
    cell: ({ name, id }) => (
      <>
        {name}
        <span class="row-note">
          <code>{id}</code>
        </span>
      </>
    ),
  },
  {
    name: words.scopes,
    cell: ({ scopes }) => (
      <span class="badges">
        {scopes.map(scope => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
  {
    name: words.expires,
    cell: ({ expiresAt }) => momentHere(expiresAt),
  },
  {
    name: words.used,
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? words.never : formatAge(lastUsedAt)),
  },
  {
    name: words.state,
    cell: token => {
      const state = stateOf(token)
      return <Badge tone={state === 'works' ? 'good' : 'neutral'}>{words.states[state]}</Badge>
    },
  },
  {
    head: <span class="unseen">{words.revoke}</span>,
    name: '',
    cell: token => (
      <span class="row-actions">
        <a href={addressOf(['audit'], { subject: token.id })}>{words.who}</a>
        {stateOf(token) === 'works' && (
          <Button
            look="danger"
            aria-label={words.revokeTitle(token.name)}
            onClick={() => revoke(token)}
          >
            {words.revoke}
          </Button>
        )}
      </span>
    ),
  },
]

const Nothing = () => <Notice title={words.empty}>{words.emptyWhy}</Notice>

/** The tokens that scripts use. */
export function TokensSection() {
  const list = useRead<TokenList>('/manage/tokens')
  const { filters, setFilters } = useFilters()
  const said = useSignal<string | null>(null)
  const isMaking = useSignal(false)
  const made = useSignal<CreatedToken | null>(null)
  const revoked = useSignal<Token | null>(null)
  return (
    <>
      <p class="lead">{words.why}</p>
      <StatusMessage of={said} />
      {made.value && (
        <div class="shown-once">
          <h3>{words.shown}</h3>
          <Code name={made.value.name}>{made.value.token}</Code>
          <p class="hint">{words.shownWhy}</p>
          <Button onClick={() => (made.value = null)}>{words.done}</Button>
        </div>
      )}
      <div class="row-actions">
        <Button look="primary" onClick={() => (isMaking.value = true)}>
          {words.create}
        </Button>
      </div>
      <Reading of={list}>
        {({ tokens }) => {
          const working = tokens.filter(token => stateOf(token) === 'works')
          const shown = filters.ended === '1' ? tokens : working
          return (
            <>
              {working.length < tokens.length && (
                <Check
                  label={words.showEnded}
                  checked={filters.ended === '1'}
                  onChange={checked => setFilters({ ended: checked ? '1' : null })}
                />
              )}
              {shown.length === 0 ? (
                <Nothing />
              ) : (
                <Table
                  caption={words.caption}
                  columns={columns(token => (revoked.value = token))}
                  rows={shown}
                  keyOf={({ id }) => id}
                />
              )}
            </>
          )
        }}
      </Reading>
      {isMaking.value && (
        <NewToken
          onMade={token => {
            made.value = token
            said.value = words.made(token.name)
          }}
          onClose={() => (isMaking.value = false)}
        />
      )}
      {revoked.value && (
        <Confirm
          title={words.revokeTitle(revoked.value.name)}
          verb={words.revoke}
          isDanger
          act={async () => {
            const { id, name } = revoked.value!
            await act(`/manage/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' })
            said.value = words.revoked(name)
            if (made.value?.id === id) made.value = null
            readAgain()
          }}
          onClose={() => (revoked.value = null)}
        >
          <p>{words.revokeWhy}</p>
        </Confirm>
      )}
    </>
  )
}
