import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { vectors } from './vectors.ts'

/* What docs/webhooks.md shows in other languages, run as it stands there, where the language is installed. */

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

/** Reads a vector from each line, and writes `true` or `false` on one. */
const runners = {
  python: {
    file: 'verify.py',
    runner: 'run.py',
    command: ['python3', 'run.py'],
    program: `
import base64
import sys

from verify import verify_webhook

for line in sys.stdin:
    signature, body, secret, now = line.rstrip("\\n").split("\\t")
    print(str(verify_webhook(base64.b64decode(body), signature, secret, int(now))).lower())
`,
  },
  go: {
    file: 'webhooks/verify.go',
    runner: 'main.go',
    command: ['go', 'run', '.'],
    program: `
package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"receiver/webhooks"
)

func main() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fields := strings.Split(lines.Text(), "\\t")
		body, _ := base64.StdEncoding.DecodeString(fields[1])
		now, _ := strconv.ParseInt(fields[3], 10, 64)
		fmt.Println(webhooks.VerifyWebhook(body, fields[0], fields[2], time.Unix(now, 0)))
	}
}
`,
  },
  java: {
    file: 'Webhooks.java',
    runner: 'Run.java',
    command: ['sh', '-c', 'javac Run.java Webhooks.java && java Run'],
    program: `
import java.util.Base64;
import java.util.Scanner;

final class Run {
  public static void main(String[] arguments) throws Exception {
    for (Scanner lines = new Scanner(System.in); lines.hasNextLine(); ) {
      String[] fields = lines.nextLine().split("\\t");
      byte[] body = Base64.getDecoder().decode(fields[1]);
      System.out.println(Webhooks.verify(body, fields[0], fields[2], Long.parseLong(fields[3])));
    }
  }
}
`,
  },
}

const needed = { python: 'python3', go: 'go', java: 'javac' }

const folder = mkdtempSync(join(tmpdir(), 'webhook-verifiers-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(['python', 'go', 'java'] as const)('%s', (language) => {
  const isInstalled = spawnSync('which', [needed[language]]).status === 0

  test.skipIf(!isInstalled)(
    'judges every vector as it is to be judged',
    { timeout: 120_000 },
    () => {
      const { file, runner, command, program } = runners[language]
      const home = join(folder, language)
      mkdirSync(join(home, 'webhooks'), { recursive: true })
      writeFileSync(join(home, 'go.mod'), 'module receiver\n\ngo 1.21\n')
      writeFileSync(join(home, file), shownIn(language))
      writeFileSync(join(home, runner), program.trimStart())
      const [executable, ...given] = command
      const { stdout, stderr } = spawnSync(executable!, given, {
        cwd: home,
        input: vectors.map(toLine).join(''),
        encoding: 'utf8',
      })
      const verdicts = stdout.trim().split('\n')
      expect(stderr).toBe('')
      expect(vectors.map(({ name }, i) => [name, verdicts[i]])).toEqual(
        vectors.map(({ name, fault }) => [name, String(fault === null)]),
      )
    },
  )
})

test.each(['python', 'go', 'java', 'ruby', 'php'])('the page shows one way in %s', (language) => {
  expect(page.split(`\`\`\`${language}\n`)).toHaveLength(2)
})

function shownIn(language: string): string {
  return page.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!
}

function toLine({ header, bodyBase64, secret, receivedUnixSeconds }: (typeof vectors)[number]) {
  return `${[header, bodyBase64, secret, receivedUnixSeconds].join('\t')}\n`
}
