import js from '@eslint/js'
import reactHooks from 'eslint-plugin-react-hooks'
import tseslint from 'typescript-eslint'

const environmentReaders = [
  '**/main.ts',
  '**/cli.ts',
  '**/test/**',
  '**/*.test.ts',
  '**/testing/**',
]

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/node_modules/',
      '**/.turbo/',
      '**/.tollgate*/',
      'console/src/api/openapi.d.ts',
    ],
  },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: {
      // One program of all workspaces: with one for each, what they share is checked anew in every one.
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_' },
      ],
      // A port's method is asynchronous for the adapters that need it, not for every one of them.
      '@typescript-eslint/require-await': 'off',
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true }],
      eqeqeq: 'error',
    },
  },
  {
    // The console runs in browsers, and reaches the API of its own address.
    files: ['console/src/**/*.{ts,tsx}', 'console/vite.config.ts'],
    extends: [reactHooks.configs.flat['recommended-latest']],
    languageOptions: {
      parserOptions: { project: './console/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    ignores: environmentReaders,
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'process',
          property: 'env',
          message: 'Read the environment in main.ts and pass it on.',
        },
        {
          object: 'URL',
          property: 'canParse',
          message: 'Use parseUrl of schemas/src/parse-url.ts, which says why.',
        },
      ],
    },
  },
  {
    // What runs in an installation reaches nobody in a way that is not guarded.
    files: ['**/*.{ts,tsx}'],
    ignores: [
      'stripe-simulator/**',
      'deploy/**',
      'tools/**',
      'console/**',
      'paywall/**',
      '**/test/**',
      '**/*.test.ts',
      '**/testing/**',
    ],
    rules: {
      'no-restricted-globals': [
        'error',
        {
          name: 'fetch',
          message:
            'Addresses that somebody gave us are reached by platform/src/outbound; others by the adapter of what is there.',
        },
      ],
    },
  },
  {
    // A suite is one function that holds its cases.
    files: ['**/*.test.ts', '**/test/**/*.ts', '**/testing/**/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // Files of one worker share their modules, which run once.
    files: ['**/test/**/*.ts', '**/testing/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(All|Each)$/]',
          message:
            'Only the first test file that loads this would have the hook. Export a function that sets it.',
        },
      ],
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        __dirname: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        navigator: 'readonly',
        setTimeout: 'readonly',
      },
    },
  },
  {
    files: ['{control-plane,mcp-proxy}/public/**/*.js', 'deploy/test/pages/**/*.js'],
    languageOptions: {
      sourceType: 'script',
      globals: {
        AbortController: 'readonly',
        DOMParser: 'readonly',
        Event: 'readonly',
        FormData: 'readonly',
        ResizeObserver: 'readonly',
        URLSearchParams: 'readonly',
        addEventListener: 'readonly',
        document: 'readonly',
        fetch: 'readonly',
        getComputedStyle: 'readonly',
        history: 'readonly',
        location: 'readonly',
        matchMedia: 'readonly',
        navigator: 'readonly',
        setTimeout: 'readonly',
        window: 'readonly',
      },
    },
  },
)
