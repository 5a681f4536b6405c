import rules from './alerts.yaml' with { type: 'text' }

/** Alert rules for Prometheus, as YAML. */
export const alertRules: string = rules
