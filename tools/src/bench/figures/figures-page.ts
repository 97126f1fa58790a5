import { formatCount } from '@tollgate/platform/terminal/table'
import { machineText } from '../machine.ts'
import { spreadText } from '../spread-text.ts'
import { kinds, type Kind } from './conditions.ts'
import type { Compared, Figures, RecordedFigures } from './figures.ts'

const titles: Record<Kind, string> = { embedded: 'Embedded parts', engines: 'Engines' }
const commands: Record<Kind, string> = {
  embedded: 'npm run bench -- --write',
  engines: 'npm run bench -- --engines --write',
}

/** Returns the page of the recorded figures as Markdown. It contains nothing that is not in the figures. */
export function figuresPage(recorded: RecordedFigures): string {
  return [
    '# Latest benchmark figures',
    'Written by `npm run bench -- --write`; do not edit it. [benchmarks.md](benchmarks.md) has what was measured when decisions were made.',
    'The ceiling is a bare uWebSockets.js server that reads the same requests and stores nothing. For bulks it also parses and ' +
      'validates them, and for the management API it is PostgreSQL with the same statements. Rates and times are medians over all ' +
      'rounds. A ratio is Tollgate divided by the ceiling within one round: its median, and in parentheses the smallest and the ' +
      'largest. Load generator, ceiling and all parts run on the same machine. "Ingest alone" means that the projections are stopped.',
    ...kinds.flatMap((kind) => [
      `## ${titles[kind]}`,
      ...(recorded[kind] === undefined
        ? [`No figures are recorded yet. \`${commands[kind]}\` records them.`]
        : figuresSection(recorded[kind])),
    ]),
  ].join('\n\n')
}

function figuresSection({ paths, ...conditions }: Figures): string[] {
  const { date, commit, machine, load, versions, options } = conditions
  const list = (entries: Readonly<Record<string, string | number>>): string =>
    Object.entries(entries)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  const measures = (name: string, { ceiling, ours, ratio }: Compared, digits: number): string[] => [
    name,
    ...[ceiling, ours].map((value) => (digits === 0 ? formatCount(value) : value.toFixed(digits))),
    spreadText(ratio),
  ]
  const timed = paths.flatMap(({ name, unit, ceilingName, processorUs }) =>
    processorUs === undefined ? [] : [[...measures(name, processorUs, 2), unit, ceilingName]],
  )
  const rates = paths.map(({ name, unit, ceilingName, perSecond, failedRequests }) => [
    ...measures(name, perSecond, 0),
    unit,
    ceilingName,
    formatCount(failedRequests),
  ])
  return [
    [
      `- Measured: ${date}, commit ${commit}`,
      `- Machine: ${machineText(machine)}; load average before: ${load}`,
      `- Versions: ${list(versions)}`,
      `- Options: ${list(options)}`,
    ].join('\n'),
    'Processor time of the process that answers, in µs per request or record:',
    table(['Path', 'Ceiling', 'Tollgate', 'Multiple', 'Per', 'Ceiling is'], timed),
    'Throughput, requests or records per second:',
    table(['Path', 'Ceiling', 'Tollgate', 'Ratio', 'Of', 'Ceiling is', 'Failed requests'], rates),
  ]
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
