import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format } from 'prettier'
import { kinds, repository, type Kind } from './conditions.ts'
import type { Figures, RecordedFigures } from './figures.ts'
import { figuresPage } from './figures-page.ts'

/** The figures, and the page that shows them. Both are written together. */
export const figuresFile = 'docs/benchmarks-latest.json'
export const pageFile = 'docs/benchmarks-latest.md'

/** Returns the recorded figures. There are none before the first `npm run bench -- --write`. */
export async function readRecordedFigures(folder = repository): Promise<RecordedFigures> {
  const text = await readFile(join(folder, figuresFile), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}'
    throw error
  })
  return parseFigures(text)
}

/** Replaces the figures of one kind. Throws if a ratio is not a number, because a server used no measurable processor time. */
export async function writeFigures(
  kind: Kind,
  figures: Figures,
  folder = repository,
): Promise<void> {
  if (!figures.paths.every(isPath)) {
    throw new Error(
      'The loads were too short to measure. Nothing was recorded: use more --seconds.',
    )
  }
  const recorded = { ...(await readRecordedFigures(folder)), [kind]: figures }
  await writeFile(join(folder, figuresFile), `${JSON.stringify(recorded, null, 2)}\n`)
  await writeFile(join(folder, pageFile), await formatPage(recorded))
}

export function formatPage(recorded: RecordedFigures): Promise<string> {
  return format(figuresPage(recorded), { parser: 'markdown' })
}

/** Throws if the text is not what `writeFigures` writes, for example after an unfinished merge. */
export function parseFigures(text: string): RecordedFigures {
  const fault = new Error(
    `${figuresFile} is malformed. Restore it from Git, or delete it and record figures again with \`npm run bench -- --write\`.`,
  )
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw fault
  }
  if (!isRecord(parsed)) throw fault
  for (const [kind, figures] of Object.entries(parsed)) {
    if (!kinds.some((each) => each === kind) || !isFigures(figures)) throw fault
  }
  return parsed
}

function isFigures(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { date, commit, machine, load, versions, options, paths } = value
  return (
    [date, commit].every((text) => typeof text === 'string') &&
    [machine, versions, options].every(isRecord) &&
    typeof load === 'number' &&
    Array.isArray(paths) &&
    paths.every(isPath)
  )
}

function isPath(value: unknown): boolean {
  if (!isRecord(value) || typeof value['name'] !== 'string') return false
  const { perSecond, processorUs } = value
  return isCompared(perSecond) && (processorUs === undefined || isCompared(processorUs))
}

function isCompared(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['ratio'])) return false
  const { median, min, max } = value['ratio']
  const numbers = [value['ceiling'], value['ours'], median, min, max]
  return numbers.every(Number.isFinite)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
