import type { Setting } from '@tollgate/platform/config/settings'
import { settingsSections, type SettingsSection } from '../settings/settings-sections.ts'

/** Returns the text of `docs/configuration.md`, generated from the declared settings of the services. */
export function configurationPage(): string {
  const head = [
    '# Configuration',
    '',
    'Every setting is an environment variable. A service that is given a wrong one lists everything wrong and does not',
    'start. `npm run docs` generates this page from the declarations.',
  ]
  return [...head, ...settingsSections.flatMap(sectionLines), ''].join('\n')
}

function sectionLines({ title, lead, settings }: SettingsSection): string[] {
  return [
    '',
    `## ${title}`,
    '',
    lead,
    '',
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    ...Object.values(settings).map(settingLine),
  ]
}

function settingLine({ variable, defaultText, description }: Setting<unknown>): string {
  const shown =
    defaultText === undefined ? 'must be set' : defaultText === '' ? 'empty' : `\`${defaultText}\``
  return `| \`${variable}\` | ${shown} | ${description.replaceAll('|', '\\|')} |`
}
