import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { verifyWebhook } from '../src/verify-webhook.ts'
import { vectors, type Vector } from './vectors.ts'

/*
 * Runs the verification code of docs/webhooks.md for other languages, exactly as shown there. Languages that are not installed are
 * skipped; with TOLLGATE_TEST_LANGUAGES=all a missing one fails. On Debian, `apt-get install python3 golang default-jdk-headless
 * ruby php-cli` installs all of them.
 */

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

/** Programs that read one vector per line and print `true` or `false` for each. */
const runners = {
  python: {
    needs: 'python3',
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
    needs: 'go',
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
    needs: 'javac',
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
  ruby: {
    needs: 'ruby',
    file: 'verify.rb',
    runner: 'run.rb',
    command: ['ruby', 'run.rb'],
    program: `
require 'base64'
require_relative 'verify'

$stdin.each_line(chomp: true) do |line|
  signature, body, secret, now = line.split("\t")
  puts verify_webhook(Base64.strict_decode64(body), signature, secret, now: now.to_i)
end
`,
  },
  php: {
    needs: 'php',
    file: 'verify.php',
    runner: 'run.php',
    command: ['php', 'run.php'],
    program: `
<?php
eval(file_get_contents('verify.php'));
while (($line = fgets(STDIN)) !== false) {
    [$signature, $body, $secret, $now] = explode("\t", rtrim($line, "\n"));
    echo verify_webhook(base64_decode($body), $signature, $secret, (int) $now) ? "true\n" : "false\n";
}
`,
  },
}

type Language = keyof typeof runners
const languages = Object.keys(runners) as Language[]

const folder = mkdtempSync(join(tmpdir(), 'webhook-verifiers-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(languages)('%s', (language) => {
  const { needs } = runners[language]
  const isMissing = spawnSync('which', [needs]).status !== 0
  const mayBeMissing = process.env['TOLLGATE_TEST_LANGUAGES'] !== 'all'

  test('gives the same result as the package for every vector and generated header', (context) => {
    if (isMissing && mayBeMissing) {
      console.warn(`docs/webhooks.md was not tried in ${language}: there is no ${needs} here`)
      context.skip(`no ${needs}`)
    }
    const given = [...vectors.map(toCase), ...generatedCases()]
    const { stdout, stderr } = runIn(language, given.map(toLine).join(''))
    const verdicts = stdout.trim().split('\n')
    expect(stderr).toBe('')
    expect(given.map(({ name }, i) => [name, verdicts[i]])).toEqual(
      given.map(({ name, isAccepted }) => [name, String(isAccepted)]),
    )
  }, 120_000)
})

function runIn(language: Language, input: string): { stdout: string; stderr: string } {
  const { file, runner, command, program } = runners[language]
  const home = join(folder, language)
  mkdirSync(join(home, 'webhooks'), { recursive: true })
  writeFileSync(join(home, 'go.mod'), 'module receiver\n\ngo 1.21\n')
  writeFileSync(join(home, file), readShownCode(language))
  writeFileSync(join(home, runner), program.trimStart())
  const [executable, ...given] = command
  const { JAVA_TOOL_OPTIONS: _, ...env } = process.env // Java says on stderr that it took them.
  return spawnSync(executable!, given, { cwd: home, env, input, encoding: 'utf8' })
}

type VerifierCase = {
  readonly name: string
  readonly header: string
  readonly bodyBase64: string
  readonly secret: string
  readonly receivedUnixSeconds: number
  readonly isAccepted: boolean
}

function toCase({ fault, ...vector }: Vector): VerifierCase {
  return { ...vector, isAccepted: fault === null }
}

/**
 * Generates headers that are nearly valid, with the result of the package, and the same ones in each run. No header has two times:
 * languages may differ there, but Tollgate never sends such a header, and the accepted time must match the signature in any case.
 */
function generatedCases(): VerifierCase[] {
  const { header, bodyBase64, secret, receivedUnixSeconds } = vectors[0]!
  const [t = '', v1 = ''] = header.split(',')
  const time = fc.oneof(
    { weight: 4, arbitrary: fc.constant(t) },
    fc.constantFrom('', 't=', 't=0', `${t}.0`, `${t}e0`, `${t} `, ` ${t}`, 't=-1', 't=+1', 'T=1'),
  )
  const digest = fc.oneof(
    { weight: 2, arbitrary: fc.constant(v1) },
    fc.constantFrom(
      v1.toUpperCase(),
      `${v1} `,
      ` ${v1}`,
      `${v1}=`,
      `v1=${v1}`,
      'v1=',
      'v1',
      'v1=é',
    ),
    fc.constantFrom('', '=', '==', 'v0=1', 'hello'),
  )
  const parts = fc.tuple(
    fc.array(digest, { maxLength: 3 }),
    time,
    fc.array(digest, { maxLength: 3 }),
  )
  return fc
    .sample(parts, { numRuns: 500, seed: 5 })
    .map((made) => made.flat().join(','))
    .map((made) => ({
      name: made,
      header: made,
      bodyBase64,
      secret,
      receivedUnixSeconds,
      isAccepted: isAccepted(made),
    }))

  function isAccepted(signature: string): boolean {
    const now = new Date(receivedUnixSeconds * 1_000)
    const body = Buffer.from(bodyBase64, 'base64')
    try {
      verifyWebhook({ body, signature, secrets: secret, now })
      return true
    } catch {
      return false
    }
  }
}

test('the generated headers contain both valid and invalid ones', () => {
  const accepted = generatedCases().filter(({ isAccepted }) => isAccepted)
  expect(accepted.length).toBeGreaterThan(20)
  expect(accepted.length).toBeLessThan(480)
})

test.each(languages)('the page shows one implementation in %s', (language) => {
  expect(page.split(`\`\`\`${language}\n`)).toHaveLength(2)
})

function readShownCode(language: string): string {
  return page.split(`\`\`\`${language}\n`)[1]!.split('```')[0]!
}

function toLine({ header, bodyBase64, secret, receivedUnixSeconds }: VerifierCase): string {
  return `${[header, bodyBase64, secret, receivedUnixSeconds].join('\t')}\n`
}
