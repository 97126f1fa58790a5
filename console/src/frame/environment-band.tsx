import { Box } from '@mantine/core'
import type { ReactElement } from 'react'
import type { Environment } from '@tollgate/schemas/environment'
import styles from './frame.module.css'

const texts: Readonly<Record<Environment, string>> = {
  sandbox: 'Sandbox: test data, no real money',
  live: 'Live: real customers and real money',
}

/** Shows the environment of the page by a word and a colour. */
export function EnvironmentBand(props: { readonly environment: Environment }): ReactElement {
  return (
    <Box className={styles['band']} data-environment={props.environment}>
      {texts[props.environment]}
    </Box>
  )
}
