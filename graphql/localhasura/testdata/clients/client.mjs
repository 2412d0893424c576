// Asks with graphql-request, and rebuilds the schema from introspection as
// GraphiQL does. Prints one JSON object for the test to compare.
import { GraphQLClient } from 'graphql-request'
import { buildClientSchema, getIntrospectionQuery, validateSchema } from 'graphql'

const client = new GraphQLClient(process.env.HASURA_URL, { headers: { 'x-hasura-admin-secret': process.env.HASURA_SECRET } })
const rows = await client.request('query($ids: [Int!]!) { article(where: {id: {_in: $ids}}) { title } }', { ids: [1, 2] })
const refused = await client.request('{ nope }').catch((e) => e.response.errors)
const schema = buildClientSchema(await client.request(getIntrospectionQuery()))
console.log(JSON.stringify({ rows, refused, faults: validateSchema(schema).map(String) }))
