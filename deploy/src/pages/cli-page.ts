import type { Command, Option } from 'commander'
import { pathOf, withDescendants } from '@tollgate/platform/cli/command-line'
import { outputShapes, type OutputShape } from '../tollgate/output-shapes.ts'
import { createTollgateProgram } from '../tollgate/program.ts'

const head = `# Command line

\`npm run tollgate -- <command>\` operates an installation. It finds the one that runs on the data folder of this machine
(\`TOLLGATE_DATA_DIR\`, default \`.tollgate\`). Without one it uses the stores that the environment names: set
\`TOLLGATE_DATABASE_URL\` and the other settings of the services ([configuration.md](configuration.md)).

For a shorter name, put \`deploy/tollgate.mjs\` on your path. It reads \`.tollgate\` in the folder in which you call it, unless
\`TOLLGATE_DATA_DIR\` names another:

\`\`\`sh
ln -s "$PWD/deploy/tollgate.mjs" ~/.local/bin/tollgate
eval "$(tollgate completion bash)"   # or zsh; fish: tollgate completion fish | source
\`\`\`

| Option | |
| --- | --- |
| \`--json\` | Print one JSON document to standard output. Its fields are stable: later versions only add fields |
| \`--quiet\`, \`-q\` | Print only what a script needs, one value per line |
| \`--version\`, \`-V\` | Print the version |
| \`--help\`, \`-h\` | Print the help of the program or of a command |

Messages of errors are one line on standard error. The exit code is 0 on success and 1 if a command fails, finds a
difference, or was misspelled. \`npm run\` prints two lines of its own: use \`npm run --silent tollgate -- … --json\` in scripts.
Help has bold titles on a terminal, unless \`NO_COLOR\` is set.

\`npm run docs\` generates this page from the commands.`

/** Returns the text of `docs/cli.md`, generated from the commands of the program. */
export function cliPage(): string {
  const { program } = createTollgateProgram({})
  const groups = new Map<string, Command[]>()
  for (const command of withDescendants(program)) {
    if (command.commands.length > 0) continue
    const group = command.helpGroup().replace(/:$/, '')
    groups.set(group, [...(groups.get(group) ?? []), command])
  }
  const lines = [...groups].flatMap(([group, commands]) => [
    '',
    `## ${group}`,
    ...commands.flatMap(commandLines),
  ])
  return [head, ...lines, ''].join('\n')
}

function commandLines(command: Command): string[] {
  const path = pathOf(command)
  const shape = outputShapes[path.split(' ').slice(1).join(' ')]
  if (shape === undefined) throw new Error(`the output of ${path} is not described`)
  return [
    '',
    `### ${path}`,
    '',
    `${command.description()}.`,
    '',
    '```text',
    `${path} ${command.usage()}`,
    '```',
    ...optionLines(command.options),
    ...shapeLines(shape),
  ]
}

function optionLines(options: readonly Option[]): string[] {
  if (options.length === 0) return []
  const rows = options.map(({ flags, description, defaultValue, argChoices }) => {
    const choices = argChoices === undefined ? '' : `: ${argChoices.join(' or ')}`
    const preset = defaultValue === undefined ? '' : `\`${String(defaultValue)}\``
    return `| \`${flags}\` | ${preset} | ${`${description}${choices}`.replaceAll('|', '\\|')} |`
  })
  return ['', '| Option | Default | |', '| --- | --- | --- |', ...rows]
}

function shapeLines({ json, quiet }: OutputShape): string[] {
  const printed = quiet === undefined ? 'nothing' : quiet
  if (typeof json === 'string') return ['', `\`--json\`: ${json}. \`--quiet\`: ${printed}.`]
  const example = JSON.stringify(json, undefined, 2)
  return ['', `\`--quiet\`: ${printed}. \`--json\`:`, '', '```json', example, '```']
}
