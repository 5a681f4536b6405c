import { useSignal } from '@preact/signals'
import type { CreatedToken, TokenList } from '../../../modules/access/schema.ts'
import { momentHere } from '../analytics/zone.ts'
import { readAgain, useRead } from '../api/read.ts'
import { act } from '../api/request.ts'
import { Badge } from '../parts/badge.tsx'
import { Check } from '../parts/choice.tsx'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { formatAge } from '../parts/format.ts'
import { Opener } from '../parts/opener.tsx'
import { actionsColumn, type Column, Table } from '../parts/table.tsx'
import { say } from '../parts/toast.tsx'
import { addressOf, useFilters } from '../shell/address.ts'
import { Notice, Reading } from '../shell/states.tsx'
import { NewToken, ShownToken } from './new-token.tsx'

const stateNames = { works: 'Active', expired: 'Expired', revoked: 'Revoked' }

type Token = TokenList['tokens'][number]

const stateOf = ({ revokedAt, expiresAt }: Token) => {
  if (revokedAt !== null) return 'revoked'
  return Date.parse(expiresAt) <= Date.now() ? 'expired' : 'works'
}

const columns = (onRevoked: (token: Token) => void): Column<Token>[] => [
  {
    name: 'Name',
    isTitle: true,
    cell: ({ name, id }) => (
      <>
        {name}
        <span class="row-note fine">
          <code>{id}</code>
        </span>
      </>
    ),
  },
  {
    name: 'Scopes',
    cell: ({ scopes }) => (
      <span class="row gap-1">
        {scopes.map(scope => (
          <Badge key={scope}>{scope}</Badge>
        ))}
      </span>
    ),
  },
  {
    name: 'Expires',
    cell: ({ expiresAt }) => momentHere(expiresAt),
  },
  {
    name: 'Last used',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'Never' : formatAge(lastUsedAt)),
  },
  {
    name: 'Status',
    cell: token => {
      const state = stateOf(token)
      return <Badge tone={state === 'works' ? 'good' : 'neutral'}>{stateNames[state]}</Badge>
    },
  },
  actionsColumn(token => (
    <>
      <a href={addressOf(['settings', 'audit'], { subject: token.id })}>See creator</a>
      {stateOf(token) === 'works' && (
        <ConfirmButton
          label="Revoke"
          name={`Revoke “${token.name}”`}
          title={`Revoke “${token.name}”`}
          verb="Revoke"
          isDanger
          act={async () => {
            await act(`/manage/tokens/${encodeURIComponent(token.id)}`, { method: 'DELETE' })
            say(`Revoked “${token.name}”.`)
            onRevoked(token)
            readAgain()
          }}
        >
          <p>Anything using this token stops working now. You cannot undo this.</p>
        </ConfirmButton>
      )}
    </>
  )),
]

const Nothing = () => (
  <Notice title="No active tokens">Create one for CI, or for a script that reads results.</Notice>
)

/** The tokens that scripts use. */
export function TokensSection() {
  const list = useRead<TokenList>('/manage/tokens')
  const { filters, setFilters } = useFilters()
  const made = useSignal<CreatedToken | null>(null)
  return (
    <>
      {made.value && <ShownToken token={made.value} onDone={() => (made.value = null)} />}
      <div class="section-action">
        <Opener look="primary" label="Create token">
          {close => (
            <NewToken
              onMade={token => {
                made.value = token
                say(`Created “${token.name}”.`)
              }}
              onClose={close}
            />
          )}
        </Opener>
      </div>
      <Reading of={list}>
        {({ tokens }) => {
          const working = tokens.filter(token => stateOf(token) === 'works')
          const shown = filters.ended === '1' ? tokens : working
          return (
            <>
              {working.length < tokens.length && (
                <Check
                  label="Show expired and revoked tokens"
                  checked={filters.ended === '1'}
                  onChange={checked => setFilters({ ended: checked ? '1' : null })}
                />
              )}
              {shown.length === 0 ? (
                <Nothing />
              ) : (
                <Table
                  caption="Management tokens"
                  columns={columns(({ id }) => {
                    if (made.value?.id === id) made.value = null
                  })}
                  rows={shown}
                  keyOf={({ id }) => id}
                />
              )}
            </>
          )
        }}
      </Reading>
    </>
  )
}
