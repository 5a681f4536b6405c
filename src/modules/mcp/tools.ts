import type { TObject, TSchema } from '@sinclair/typebox'
import type { Needs } from '../../http/principal.ts'
import type { Route } from '../../http/route.ts'
import { resultsInWords } from './results.ts'

/** What an assistant is offered for one route of the management API. */
interface ToolRow {
  name: string
  /** Of the route that does the work. */
  operation: string
  title: string
  /** When to use it and what comes next; what the arguments mean is in the route's schema. */
  description: string
  /** The argument that is the whole body of the request. */
  wholeBody?: { name: string; description: string }
  /** Parameters of the route that an assistant has no use for. */
  hides?: readonly string[]
  /** What is sent along each time. */
  fixed?: Readonly<Record<string, unknown>>
  /** Writes what was read from `etag` into `If-Match`; `new`: without it only a new flow is saved. */
  etag?: 'required' | 'new'
  /** Changes what visitors see, or ends something for good. */
  isDestructive?: true
  /** The response in sentences, put before its JSON. */
  inWords?(response: never): string
}

const rows: readonly ToolRow[] = [
  {
    name: 'check_installation',
    operation: 'getInstallation',
    title: 'Check the installation',
    description:
      'Start here. Says whether the snippet runs on the pages, what is wrong with it and how to fix it.',
  },
  {
    name: 'list_flows',
    operation: 'listAuthoredFlows',
    title: 'List flows',
    description:
      'Every tour, checklist, announcement and launcher with its key, status and version.',
    hides: ['definitions'],
  },
  {
    name: 'get_flow',
    operation: 'getDraft',
    title: 'Read a flow',
    description:
      'The definition of a flow, and the etag that save_draft and publish_flow require. Read a flow before you change it.',
    hides: ['text'],
  },
  {
    name: 'get_flow_schema',
    operation: 'getFlowFileSchema',
    title: 'Get the schema of flows',
    description: 'The JSON Schema of a flow, with every field, default and limit.',
  },
  {
    name: 'validate_flow',
    operation: 'validateFlows',
    title: 'Check a flow',
    description:
      'Checks a flow without saving it. Send it as JSON or YAML text. Fix every error before save_draft, and read the warnings.',
    hides: ['normalised'],
  },
  {
    name: 'save_draft',
    operation: 'putDraft',
    title: 'Save a draft',
    description:
      'Saves a whole flow as the draft. No visitor sees a draft. Send the complete definition: fields that you leave out get their default. ' +
      'To change an existing flow, send the etag of get_flow; without an etag only a new flow is saved.',
    wholeBody: { name: 'flow', description: 'The complete flow. See get_flow_schema.' },
    hides: ['text'],
    etag: 'new',
  },
  {
    name: 'preview_flow',
    operation: 'createPreview',
    title: 'Make a preview link',
    description:
      'A link that shows the draft on the real page. Give it to the person you work for: they look before you publish.',
    hides: ['definition'],
  },
  {
    name: 'publish_flow',
    operation: 'publishFlow',
    title: 'Publish a flow',
    description:
      'Makes the draft visible to visitors, at once. Ask the person first. Requires the etag of the draft that was read.',
    etag: 'required',
    isDestructive: true,
  },
  {
    name: 'unpublish_flow',
    operation: 'unpublishFlow',
    title: 'Unpublish a flow',
    description: 'Hides a flow from visitors, at once. Its versions and results stay.',
    isDestructive: true,
  },
  {
    name: 'list_versions',
    operation: 'listVersions',
    title: 'List versions',
    description: 'The published versions of a flow, newest first, with who published them and why.',
  },
  {
    name: 'compare_versions',
    operation: 'diffFlow',
    title: 'Compare versions',
    description: 'The difference between two versions, or between a version and the draft.',
  },
  {
    name: 'get_results',
    operation: 'getResults',
    title: 'Read results',
    description:
      'How a flow performs: starts, completions, where people leave, answers. The sentences come first, then all numbers with their definitions.',
    inWords: resultsInWords,
  },
  {
    name: 'get_all_results',
    operation: 'getSummary',
    title: 'Read the results of all flows',
    description: 'The main numbers of every flow, to find the one that needs attention.',
  },
  {
    name: 'check_steps',
    operation: 'checkSteps',
    title: 'Check elements',
    description:
      'Whether the elements of published steps are found on the pages, and which selector would find a lost one.',
    hides: ['history', 'timezone'],
  },
  {
    name: 'repair_step',
    operation: 'repairStep',
    title: 'Repair a selector',
    description:
      'Replaces the selector of a step in the draft, by the one that check_steps suggests unless you send another. Publish the draft afterwards.',
    etag: 'required',
  },
  {
    name: 'explain_visibility',
    operation: 'explainFlow',
    title: 'Explain who sees a flow',
    description: 'Whether a person sees a flow on a page, and which condition decides.',
  },
  {
    name: 'list_runs',
    operation: 'listRuns',
    title: 'List runs',
    description:
      'Individual passes through a flow, latest first: how far each came and how it ended.',
  },
  {
    name: 'list_answers',
    operation: 'listAnswers',
    title: 'Read written answers',
    description: 'What people wrote in answer to a question, with their ids.',
  },
  {
    name: 'list_alerts',
    operation: 'listAlerts',
    title: 'List alerts',
    description:
      'What is wrong now, or was lately: broken steps, fallen completion, a silent snippet.',
  },
  {
    name: 'start_picking',
    operation: 'beginAuthorSession',
    title: 'Let a person pick an element',
    description:
      'When you do not know a selector. Returns an address: the person opens it within two minutes and clicks the element on their page. Then call get_picked_elements.',
  },
  {
    name: 'get_picked_elements',
    operation: 'getAuthorSession',
    title: 'Read picked elements',
    description:
      'The elements that a person picked after start_picking, each with selectors and how many elements every one matches. Use one that matches 1.',
  },
]

/** A tool with the route that does its work. */
export interface Tool extends ToolRow {
  route: Route
  needs: Needs
  pathNames: readonly string[]
  queryNames: readonly string[]
  inputSchema: { type: 'object'; properties: Record<string, unknown>; required: string[] }
}

const etagArgument = {
  type: 'string',
  description: 'The etag of get_flow, exactly as it was returned, quotes included.',
}

const fieldsOf = (schema: TSchema | undefined) => {
  const { properties = {}, required = [] } = (schema ?? {}) as Partial<TObject>
  return { properties: properties as Record<string, unknown>, required }
}

/** What a path's parameter names, by its name. */
const pathArguments: Readonly<Record<string, string>> = {
  key: 'Key of the flow, from list_flows.',
  step: 'Key of the step.',
  session_id: 'The id that start_picking returned.',
}

function toolOf(row: ToolRow, route: Route): Tool {
  const { hides = [], wholeBody, etag } = row
  const pathNames = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const query = fieldsOf(route.query)
  const body = wholeBody ? fieldsOf(undefined) : fieldsOf(route.body)
  const shown = Object.entries({ ...query.properties, ...body.properties }).filter(
    ([name]) => !hides.includes(name),
  )
  const ofPath = pathNames.map(name => [name, { type: 'string', description: pathArguments[name] }])
  return {
    ...row,
    route,
    needs: route.caller === 'management' ? route.needs : 'operator',
    pathNames,
    queryNames: Object.keys(query.properties),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries([
        ...ofPath,
        ...(wholeBody
          ? [[wholeBody.name, { type: 'object', description: wholeBody.description }]]
          : []),
        ...shown,
        ...(etag ? [['etag', etagArgument]] : []),
      ]),
      required: [
        ...pathNames,
        ...(wholeBody ? [wholeBody.name] : []),
        ...query.required,
        ...body.required,
        ...(etag === 'required' ? ['etag'] : []),
      ].filter(name => !hides.includes(name)),
    },
  }
}

/**
 * The tools, made from the routes that do their work, so that a tool's arguments are those that its route
 * checks.
 *
 * @throws Error if a route is missing
 */
export const toolsOf = (routes: readonly Route[]): Tool[] =>
  rows.map(row => {
    const route = routes.find(({ operation }) => operation === row.operation)
    if (!route) throw new Error(`No route is called ${row.operation}`)
    return toolOf(row, route)
  })
