import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { randomRuns } from '@tollgate/platform/testing/random-runs'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The seed that `TOLLGATE_TEST_SEED` sets: that of a failure to repeat, or a drawn one for `random`. */
export const configuredSeed =
  process.env['TOLLGATE_TEST_SEED'] === undefined ? undefined : randomRuns(1).seed

/** Minimum time between two printed lines, in milliseconds. */
const printEveryMs = 60_000

/** A line of the file: the first seed of the run, or a batch that passed. */
type Line =
  | { readonly suite: string; readonly firstSeed: number }
  | { readonly suite: string; readonly passed: number; readonly cases: number }

/**
 * The progress of a test of random cases that runs for hours. It is kept in a file, so that a run which was stopped or killed
 * continues where it was, and processes that share the cases of a run begin with the same seed. A batch of cases has a seed, and is
 * written to the file once all its cases have passed. A batch that failed is not written, so the next run plays it again.
 */
export class RunProgress {
  readonly firstSeed: number
  readonly #suite: string
  readonly #path: string
  readonly #casesMax: number
  /** Number of cases that passed, by the seed of their batch. */
  #passed: ReadonlyMap<number, number> = new Map()
  readonly #startedAt = Date.now()
  /** Cases that had passed when this process began. */
  readonly #passedBefore: number
  #printedAt = 0

  private constructor(suite: string, path: string, casesMax: number) {
    this.#suite = suite
    this.#path = path
    this.#casesMax = casesMax
    // Processes that start together each append a seed, and all of them read the one that came first.
    if (findFirstSeed(this.#read()) === undefined) this.#append({ suite, firstSeed: Date.now() })
    this.firstSeed = findFirstSeed(this.#read())!
    this.#passedBefore = this.passedCases
    this.#print()
  }

  /**
   * Opens the progress of a run with a configured number of cases. Returns undefined for a run without one, which is short, and for a
   * run with a configured seed: they start from the beginning.
   *
   * `TOLLGATE_TEST_PROGRESS` names the file. Without it, each suite has a file for each commit, so that no case counts that passed with
   * other code.
   */
  static open(suite: string, configuredCases: string | undefined): RunProgress | undefined {
    if (configuredCases === undefined || configuredSeed !== undefined) return undefined
    const named = process.env['TOLLGATE_TEST_PROGRESS']
    const path = resolve(root, named ?? `.test-progress/${suite}-${currentCommit()}.jsonl`)
    return RunProgress.openAt(path, suite, Number(configuredCases))
  }

  static openAt(path: string, suite: string, casesMax: number): RunProgress {
    return new RunProgress(suite, path, casesMax)
  }

  /** Number of cases that have passed, in all runs, as far as this process has read the file. */
  get passedCases(): number {
    return [...this.#passed.values()].reduce((sum, cases) => sum + cases, 0)
  }

  hasPassed(seed: number, cases: number): boolean {
    return (this.#passed.get(seed) ?? 0) >= cases
  }

  /** Counts a batch that was played. Its seed counts once, however often it is played. */
  end(seed: number, cases: number, hasPassed: boolean): void {
    if (hasPassed && !this.hasPassed(seed, cases)) {
      this.#append({ suite: this.#suite, passed: seed, cases })
      this.#read()
    }
    if (Date.now() - this.#printedAt >= printEveryMs) this.#print()
  }

  /** Reads the file again, to which other processes of the run append too. */
  #read(): Line[] {
    const lines = readLines(this.#path, this.#suite)
    const passed = lines.filter((line) => 'passed' in line)
    // A seed gets another line only with more cases, so its last line counts.
    this.#passed = new Map(passed.map((line) => [line.passed, line.cases]))
    return lines
  }

  #append(line: Line): void {
    mkdirSync(dirname(this.#path), { recursive: true })
    // The line that a killed process has not completed ends here.
    appendFileSync(this.#path, `\n${JSON.stringify(line)}`)
  }

  #print(): void {
    this.#printedAt = Date.now()
    this.#read()
    const passed = this.passedCases - this.#passedBefore
    const perSecond = passed / ((Date.now() - this.#startedAt) / 1_000)
    const pace = passed === 0 ? this.#path : `${perSecond.toFixed(2)} per second`
    console.log(`${this.#suite}: ${this.passedCases} of ${this.#casesMax} have passed, ${pace}`)
  }
}

function findFirstSeed(lines: readonly Line[]): number | undefined {
  return lines.find((line) => 'firstSeed' in line)?.firstSeed
}

/** Returns the lines of the suite. Incomplete lines are ignored. */
function readLines(path: string, suite: string): Line[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((text): Line[] => {
    try {
      const line = JSON.parse(text) as Line
      return line.suite === suite ? [line] : []
    } catch {
      return []
    }
  })
}

/** Returns the beginning of the commit's name, or `unknown` outside of a repository. */
function currentCommit(): string {
  try {
    const options = { cwd: root, encoding: 'utf8' as const, stdio: 'pipe' as const }
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], options).trim()
  } catch {
    return 'unknown'
  }
}
