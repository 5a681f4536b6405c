/** One problem of a flow. An error keeps the flow from being shown, a warning does not. */
export interface FlowProblem {
  severity: 'error' | 'warning'
  code: string
  /** JSON pointer within the flow. The field may be missing from the flow. */
  path: string
  /** One sentence that says what to do. It shows at most 60 characters of the flow's own text. */
  message: string
}

export const error = (code: string, path: string, message: string): FlowProblem => ({
  severity: 'error',
  code,
  path,
  message,
})

export const warning = (code: string, path: string, message: string): FlowProblem => ({
  severity: 'warning',
  code,
  path,
  message,
})
