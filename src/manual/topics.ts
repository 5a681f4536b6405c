import alerts from './alerts.md' with { type: 'text' }
import analytics from './analytics.md' with { type: 'text' }
import api from './api.md' with { type: 'text' }
import assistant from './assistant.md' with { type: 'text' }
import backup from './backup.md' with { type: 'text' }
import builder from './builder.md' with { type: 'text' }
import configuration from './configuration.md' with { type: 'text' }
import contribute from './contribute.md' with { type: 'text' }
import dashboard from './dashboard.md' with { type: 'text' }
import deploy from './deploy.md' with { type: 'text' }
import exportAndSql from './export-and-sql.md' with { type: 'text' }
import guarantees from './guarantees.md' with { type: 'text' }
import identityProvider from './identity-provider.md' with { type: 'text' }
import installTheSnippet from './install-the-snippet.md' with { type: 'text' }
import launcher from './launcher.md' with { type: 'text' }
import limits from './limits.md' with { type: 'text' }
import operations from './operations.md' with { type: 'text' }
import privacy from './privacy.md' with { type: 'text' }
import sdk from './sdk.md' with { type: 'text' }
import security from './security.md' with { type: 'text' }
import severalMachines from './several-machines.md' with { type: 'text' }
import theme from './theme.md' with { type: 'text' }
import troubleshoot from './troubleshoot.md' with { type: 'text' }
import upgrade from './upgrade.md' with { type: 'text' }
import verifyUsers from './verify-users.md' with { type: 'text' }
import writeFlows from './write-flows.md' with { type: 'text' }

/** The manual's topics by group and name, in the order in which they are listed. */
export const sources: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Run Cairn': {
    deploy,
    'several-machines': severalMachines,
    configuration,
    backup,
    upgrade,
    operations,
    'identity-provider': identityProvider,
    security,
  },
  'Use Cairn': {
    dashboard,
    'install-the-snippet': installTheSnippet,
    sdk,
    'write-flows': writeFlows,
    builder,
    launcher,
    theme,
    troubleshoot,
    alerts,
    'verify-users': verifyUsers,
    privacy,
    api,
    assistant,
    analytics,
    'export-and-sql': exportAndSql,
  },
  'Rely on Cairn': { guarantees, limits, contribute },
}
