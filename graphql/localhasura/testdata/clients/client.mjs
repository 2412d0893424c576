// Asks with graphql-request, rebuilds the schema from introspection as GraphiQL
// does, and lets graphql-codegen make types of it. Prints one JSON object for
// the test to compare.
import { readFileSync } from 'node:fs'
import { codegen } from '@graphql-codegen/core'
import * as typescript from '@graphql-codegen/typescript'
import * as operations from '@graphql-codegen/typescript-operations'
import { buildClientSchema, getIntrospectionQuery, parse, printSchema, validateSchema } from 'graphql'
import { GraphQLClient } from 'graphql-request'

const client = new GraphQLClient(process.env.HASURA_URL, { headers: { 'x-hasura-admin-secret': process.env.HASURA_SECRET } })
const rows = await client.request('query($ids: [Int!]!) { article(where: {id: {_in: $ids}}) { title } }', { ids: [1, 2] })
const refused = await client.request('{ nope }').catch((e) => e.response.errors)
const schemaAst = buildClientSchema(await client.request(getIntrospectionQuery()))
const types = await codegen({
  schema: parse(printSchema(schemaAst)),
  schemaAst,
  documents: [{ location: 'operations.graphql', document: parse(readFileSync('operations.graphql', 'utf8')) }],
  filename: 'generated.ts',
  config: {},
  plugins: [{ typescript: {} }, { operations: {} }],
  pluginMap: { typescript, operations },
})
console.log(JSON.stringify({ rows, refused, faults: validateSchema(schemaAst).map(String), types }))
