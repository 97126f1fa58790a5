import {
  mcpBootstrappedSchema,
  mcpBootstrapSchema,
  mcpConfiguredSchema,
  mcpConfigureSchema,
  mcpDiscoveredSchema,
} from '../mcp.ts'
import type { ProductBody } from '../products.ts'
import { examplesOf } from './example.ts'
import { freePlan, product as searchProduct, proPlan, refs } from './story.ts'

const server = {
  reference: 'mcp_4QX7KZ2MB9TN',
  subdomain: 'acme-tools',
  mcpProxyUrl: 'https://acme-tools.mcp.billing.acme.example/mcp',
  url: 'https://mcp.acme.example/mcp',
  defaultPlanRef: refs.freePlan,
}

const product: ProductBody = {
  ...searchProduct,
  reference: 'prd_2NT6XV9QK5WB',
  name: 'Acme Tools',
  description: 'Search and summaries for assistants',
  isMcpPay: true,
  productType: 'mcp',
  balance: 0,
  totalTransactions: 0,
  plans: [freePlan, proPlan],
  mcp: {
    mcpServerRef: server.reference,
    mcpSubdomain: server.subdomain,
    mcpProxyUrl: server.mcpProxyUrl,
    originUrl: server.url,
    defaultPlanRef: server.defaultPlanRef,
  },
}

const planMap = {
  free: { reference: refs.freePlan, name: 'Free' },
  pro: { reference: refs.proPlan, name: 'Pro' },
}

const pro = {
  key: 'pro',
  name: 'Pro',
  price: 4_900,
  currency: 'USD',
  type: 'recurring',
  billingCycle: 'monthly',
  limit: 100_000,
} as const
const tools = [
  { name: 'status', access: 'public' as const, planRefs: [], onlyListedPlans: false },
  {
    ...{ name: 'search', access: 'plans' as const, onlyListedPlans: false },
    planRefs: [refs.freePlan, refs.proPlan],
  },
  {
    ...{ name: 'summarize', access: 'plans' as const, onlyListedPlans: true },
    ...{ planRefs: [refs.proPlan], cancelledCalls: 'accepted' as const },
  },
]

const configured = { product, mcpServer: server, planMap, tools }

/** With a free default plan, `planKeys: ["pro"]` alone excludes nobody. */
const opened = {
  ...configured,
  tools: [
    {
      name: 'summarize',
      access: 'plans' as const,
      planRefs: [refs.proPlan],
      onlyListedPlans: false,
    },
  ],
  warnings: [
    {
      code: 'default_plan_opens_tool' as const,
      tool: 'summarize',
      message:
        'The tool summarize lists only paid plans, and is also open to the default plan Free. To reserve it for the plans ' +
        'listed, set `onlyListedPlans` to true.',
    },
  ],
}

export const mcpExamples = {
  bootstrapMcpProduct: {
    body: examplesOf(mcpBootstrapSchema, {
      'Ask the server for its tools': { originUrl: server.url, name: 'Acme Tools' },
      'Plans and what they open': {
        originUrl: server.url,
        name: 'Acme Tools',
        mcpDomain: 'acme-tools',
        authApiKey: 'origin-secret',
        plans: [{ key: 'free', name: 'Free', price: 0, currency: 'USD', limit: 1_000 }, pro],
        tools: [
          { name: 'status', noPlan: true },
          { name: 'search', planKeys: ['free', 'pro'] },
          {
            ...{ name: 'summarize', planKeys: ['pro'] },
            ...{ onlyListedPlans: true, cancelledCalls: 'accepted' },
          },
        ],
        defaultPlanKey: 'free',
      },
    }),
    answer: examplesOf(mcpBootstrappedSchema, {
      'The server was asked': {
        ...configured,
        toolsAutoMapped: true,
        autoMappedTools: [{ name: 'search', description: 'Finds documents' }],
        discovery: { status: 'found' },
      },
      'The server did not answer': {
        ...configured,
        toolsAutoMapped: false,
        discovery: { status: 'failed', message: 'The origin did not answer in time' },
      },
    }),
  },
  configureMcpPlans: {
    body: examplesOf(mcpConfigureSchema, {
      'Another paid plan': { plans: [{ ...pro, price: 5_900 }] },
      'What a plan opens': {
        toolMapping: [{ name: 'summarize', planKeys: ['pro'], onlyListedPlans: true }],
      },
    }),
    answer: examplesOf(mcpConfiguredSchema, {
      'As it is now': configured,
      'A tool that is open to more than its plans': opened,
    }),
  },
  discoverMcpTools: {
    answer: examplesOf(mcpDiscoveredSchema, {
      'One came, one went': {
        tools: [
          {
            name: 'search',
            description: 'Finds documents',
            access: 'plans',
            planRefs: [refs.freePlan, refs.proPlan],
            onlyListedPlans: false,
          },
          { name: 'translate', access: 'every-plan', planRefs: [], onlyListedPlans: false },
        ],
        added: ['translate'],
        removed: ['summarize'],
      },
    }),
  },
}
