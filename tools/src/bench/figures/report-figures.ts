import { ownStores } from '@tollgate/deploy/standalone/stores'
import { comparisonText } from './compare-figures.ts'
import type { Kind } from './conditions.ts'
import type { Figures, RecordedFigures } from './figures.ts'
import { figuresFile, pageFile, writeFigures } from './recorded-figures.ts'

export type FiguresOptions = {
  readonly write: boolean
  readonly compare: boolean
}

/** Returns why the figures could not be recorded or compared, so that nothing is measured in vain. */
export function refusalOf(
  kind: Kind,
  { write, compare }: FiguresOptions,
  recorded: RecordedFigures,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (!write && !compare) return undefined
  const isEmbedded = Object.values(ownStores(environment)).every(Boolean)
  if (kind === 'embedded' && !isEmbedded) {
    return 'the environment names other stores than the embedded ones. Remove these TOLLGATE_ variables, or use --engines.'
  }
  // A run that records figures needs no earlier ones.
  if (write || recorded[kind] !== undefined) return undefined
  const flags = kind === 'engines' ? '--engines --write' : '--write'
  return `${figuresFile} has no figures of this kind (${kind}) to compare with. Record them with \`npm run bench -- ${flags}\`.`
}

/** Prints the changes and records the figures, as the options say. */
export async function reportFigures(
  kind: Kind,
  figures: Figures,
  before: Figures | undefined,
  { write, compare }: FiguresOptions,
  print: (line: string) => void,
): Promise<void> {
  if (compare) {
    const nothing = `${figuresFile} had no figures of this kind (${kind}) to compare with.`
    print(`\n${before === undefined ? nothing : comparisonText(before, figures)}`)
  }
  if (!write) return
  await writeFigures(kind, figures)
  print(`\nWrote ${figuresFile} and ${pageFile}.`)
}
