import type { FunctionComponent } from 'preact'
import { AssistantSection } from '../access/assistant-section.tsx'
import { AuditSection } from '../access/audit-section.tsx'
import { MembersSection } from '../access/members-section.tsx'
import { SignInSection } from '../access/sign-in-section.tsx'
import { TokensSection } from '../access/tokens-section.tsx'
import { ReportSection } from '../alerts/report.tsx'
import { RulesSection } from '../alerts/rules.tsx'
import { WebhooksSection } from '../alerts/webhooks.tsx'
import { may } from '../api/session.ts'
import { EnvironmentsSection } from '../environments/environments-section.tsx'
import { IdentitySection } from './identity-section.tsx'
import { ImagesSection } from './images-section.tsx'
import { KeysSection } from './keys-section.tsx'
import { limits } from './limit-fields.tsx'
import { LookSection } from './look-section.tsx'
import * as fields from './setting-fields.tsx'
import type { AnyField } from './settings-form.tsx'
import { StoredData } from './stored-data.tsx'

export interface Section {
  path: string
  name: string
  lead: string
  /** The simple settings of the section. */
  fields?: readonly AnyField[]
  isReadOnly?: () => boolean
  /** Everything else. */
  Body?: FunctionComponent
  /** A page of the manual, with the name of the link to it. */
  more?: readonly [topic: string, name: string]
  /** More words by which the search finds it. */
  finds?: string
}

/** The sections of the settings, in their groups. */
export const groups: readonly (readonly [name: string, sections: readonly Section[]])[] = [
  [
    'Organisation',
    [
      {
        ...{ path: 'general', name: 'General', fields: fields.general },
        lead: 'What people see in this dashboard and in the weekly report.',
      },
      {
        ...{ path: 'appearance', name: 'Appearance', Body: LookSection },
        lead: 'Default appearance. A flow can override any field. Visitors see changes on their next page.',
        more: ['theme', 'What your style sheets can set'],
        finds: 'theme colours fonts dark logo radius preset',
      },
      {
        ...{ path: 'images', name: 'Images', Body: ImagesSection },
        lead: 'Images that authors uploaded for steps, and the flows that show them.',
        finds: 'pictures uploads media',
      },
      {
        ...{ path: 'frequency', name: 'Frequency cap', fields: fields.frequency },
        lead: 'Maximum tours and announcements per person in 24 hours. Checklists and flows that your page starts do not count.',
      },
      {
        ...{ path: 'staging', name: 'Staging', Body: EnvironmentsSection },
        lead: 'Try flows in another organisation, then promote them to this one.',
        finds: 'environments link promote',
      },
    ],
  ],
  [
    'Data',
    [
      {
        ...{ path: 'privacy', name: 'Privacy', fields: fields.privacy, Body: StoredData },
        lead: 'Who is counted, and what is stored about people.',
        more: ['privacy', 'More about privacy'],
      },
      {
        ...{ path: 'traits', name: 'Traits', fields: fields.traits },
        lead: 'Traits stay in the browser, except those listed here: Cairn stores them with new runs for breakdowns. List what many people share, such as plan or role. Never list a name, an email address or an ID.',
        more: ['privacy', 'What is sent, and when'],
      },
      {
        ...{ path: 'retention', name: 'Retention', fields: fields.retention },
        lead: 'Raw events are deleted this many days after they arrive. Results do not change.',
      },
    ],
  ],
  [
    'Access',
    [
      {
        ...{ path: 'members', name: 'Members', Body: MembersSection },
        lead: 'People who can sign in to this dashboard, and what they can do.',
        more: ['dashboard#members', 'More about members and roles'],
        finds: 'invite roles people owner editor viewer remove',
      },
      {
        ...{ path: 'keys', name: 'Snippet keys', Body: KeysSection },
        lead: 'Pages use this key to identify your organisation. Public: it cannot read your data.',
        finds: 'rotate',
      },
      {
        ...{ path: 'origins', name: 'Allowed origins', fields: fields.origins },
        lead: 'Sites that may run the snippet. Other sites get an error. Back ends are always allowed.',
        finds: 'domains sites cors',
      },
      {
        ...{ path: 'identity', name: 'Identity verification', Body: IdentitySection },
        lead: 'The snippet key is public, so a user ID is only a claim. Your back end can prove it with a hash.',
        more: ['verify-users', 'How to make hashes'],
        finds: 'hash secret hmac',
      },
      {
        ...{ path: 'tokens', name: 'Management tokens', Body: TokensSection },
        lead: 'Let scripts and CI manage this organisation, within the scopes you choose.',
        finds: 'api ci',
      },
      {
        ...{ path: 'assistant', name: 'Assistant', Body: AssistantSection },
        lead: 'Let an assistant such as Claude write flows and read results. You approve what is published.',
        more: ['assistant', 'What an assistant can do'],
        finds: 'mcp claude ai model context protocol',
      },
      {
        ...{ path: 'sign-in', name: 'Sign-in', Body: SignInSection },
        lead: 'How people sign in, and your own session.',
        more: ['dashboard', 'More about signing in'],
        finds: 'sso provider openid sign out everywhere',
      },
      {
        ...{ path: 'limits', name: 'Rate limits', fields: limits },
        isReadOnly: () => !may('operator'),
        lead: 'Maximum requests per minute. Requests over the limit get an error. Only the operator of the server can change them.',
      },
      {
        ...{ path: 'audit', name: 'Audit log', Body: AuditSection },
        lead: 'Who changed what, newest first.',
        finds: 'history changes',
      },
    ],
  ],
  [
    'Delivery',
    [
      {
        ...{ path: 'alerts', name: 'Alert rules', Body: RulesSection },
        lead: 'Cairn watches for these problems and notifies your webhooks, and your mailboxes if you want. Every rule starts turned off.',
        more: ['alerts', 'More about alerts'],
        finds: 'broken steps notifications',
      },
      {
        ...{ path: 'webhooks', name: 'Webhooks', Body: WebhooksSection },
        lead: 'Addresses that receive alerts and the weekly report, such as a channel in Slack.',
        more: ['alerts', 'What is sent'],
        finds: 'slack deliveries',
      },
      {
        ...{ path: 'report', name: 'Weekly report', Body: ReportSection },
        lead: 'A summary of the last week, sent on Monday to your webhooks and to these email addresses.',
        finds: 'email mail',
      },
    ],
  ],
]
