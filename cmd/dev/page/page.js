// The page of the development stack. Everything it knows it asks Hasura, as the
// chosen user; every request is shown as it went over the wire.

const $ = (id) => document.getElementById(id)
const users = await (await fetch('/dev/users')).json()
let me = users[0]
let shown = null

// --- Hasura -----------------------------------------------------------------

async function gql(query, variables = {}) {
  const began = performance.now()
  const headers = { 'content-type': 'application/json' }
  if (me.token) headers.authorization = `Bearer ${me.token}`
  const answer = await fetch('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query, variables }) })
  const body = await answer.json()
  record(query, variables, body, performance.now() - began)
  if (body.errors) throw new Error(`${body.errors[0].message} (${body.errors[0].extensions?.code})`)
  return body.data
}

function record(query, variables, body, took) {
  const field = query.match(/\{\s*(\w+)/)[1]
  const summary = element('summary', { textContent: `${me.name}: ${field} – ${Math.round(took)} ms` })
  if (body.errors) summary.className = 'bad'
  const details = element('details', {}, summary,
    element('pre', { textContent: `${query.trim()}\n\n${JSON.stringify(variables, null, 1)}` }),
    element('pre', { textContent: JSON.stringify(body, null, 1) }))
  $('wire').prepend(element('li', {}, details))
  while ($('wire').children.length > 50) $('wire').lastChild.remove()
}

// --- uploading --------------------------------------------------------------

const createUpload = `mutation ($name: String!, $size: bigint!, $mimeType: String) {
  storageCreateUpload(name: $name, size: $size, mimeType: $mimeType) {
    uploadId fileId method url headers { name value } partSize
    parts { partNumber url size headers { name value } }
  }
}`
const moreParts = `mutation ($uploadId: uuid!) {
  storageUploadParts(uploadId: $uploadId) { missing { partNumber url size headers { name value } } partSize }
}`
const completeUpload = `mutation ($uploadId: uuid!) {
  storageCompleteUpload(uploadId: $uploadId) { id name size }
}`

async function upload(file) {
  const line = element('li', {}, element('span', { textContent: file.name }))
  const bar = element('progress', { max: Math.max(file.size, 1), value: 0 })
  line.append(bar)
  $('uploads').append(line)
  try {
    const { storageCreateUpload: ticket } = await gql(createUpload,
      { name: file.name, size: file.size, mimeType: file.type || null })
    if (ticket.method === 'PUT') await put(ticket, file, (sent) => { bar.value = sent })
    else await putParts(ticket, file, (sent) => { bar.value = sent })
    await complete(ticket.uploadId)
    line.remove()
    await list()
  } catch (error) {
    line.append(element('div', { className: 'bad', textContent: error.message }))
  }
}

// complete asks again while the service is still copying or scanning.
async function complete(uploadId) {
  for (;;) {
    try {
      return await gql(completeUpload, { uploadId })
    } catch (error) {
      if (!error.message.includes('upload-completing')) throw error
    }
  }
}

// put sends one body straight to the store. XMLHttpRequest, because fetch
// cannot tell how much has been sent.
function put({ url, headers }, body, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', url)
    for (const { name, value } of headers) request.setRequestHeader(name, value)
    request.upload.onprogress = (event) => progress(event.loaded)
    request.onload = () => request.status < 300 ? resolve() : reject(new Error(`the store answered ${request.status}`))
    request.onerror = () => reject(new Error('the store cannot be reached'))
    request.send(body)
  })
}

async function putParts(ticket, file, progress) {
  let { parts, partSize } = ticket
  let sent = 0
  while (parts.length > 0) {
    for (const part of parts) {
      const from = (part.partNumber - 1) * partSize
      await put(part, file.slice(from, from + part.size), (now) => progress(sent + now))
      sent += part.size
    }
    const { storageUploadParts: rest } = await gql(moreParts, { uploadId: ticket.uploadId })
    parts = rest.missing
  }
}

// --- the gallery ------------------------------------------------------------

const listFiles = `query { files(order_by: {createdAt: desc}, limit: 60, where: {isUploaded: {_eq: true}}) {
  id name size mimeType
} }`
const thumbnails = `query ($ids: [uuid!]!) {
  storageDownloads(ids: $ids, image: {width: 272, height: 204, fit: COVER}) { id url }
}`

async function list() {
  const { files } = await gql(listFiles)
  const pictures = files.filter((file) => /^image\/(jpeg|png|gif|webp|avif)$/.test(file.mimeType))
  const urls = pictures.length ? await thumbnailsOf(pictures) : {}
  $('gallery').replaceChildren(...files.map((file) => card(file, urls[file.id])))
  $('empty').hidden = files.length > 0
}

async function thumbnailsOf(pictures) {
  try {
    const { storageDownloads } = await gql(thumbnails, { ids: pictures.map((file) => file.id) })
    return Object.fromEntries(storageDownloads.map(({ id, url }) => [id, url]))
  } catch {
    return {}
  }
}

function card(file, url) {
  const show = element('button', { className: 'show', type: 'button', title: `Show ${file.name}`, onclick: () => view(file) })
  show.append(url ? element('img', { src: url, alt: '', onerror: again }) : element('span', { textContent: file.mimeType || '?' }))
  const remove = element('button', { className: 'remove', type: 'button', textContent: 'Delete', onclick: () => forget(file) })
  return element('li', {}, show, element('div', { className: 'about', textContent: `${file.name}, ${bytes(file.size)}` }), remove)
}

// again asks once more for a picture that the service was too busy to make.
function again({ target }) {
  target.onerror = null
  setTimeout(() => { target.src = target.src }, 2000)
}

async function forget(file) {
  const deleteFile = 'mutation ($id: uuid!) { deleteFile(id: $id) { id } }'
  await gql(deleteFile, { id: file.id }).catch(() => {})
  if (shown?.id === file.id) close()
  await list()
}

// --- one picture ------------------------------------------------------------

const download = `query ($id: uuid!, $image: StorageImageInput) {
  storageDownload(id: $id, image: $image) { url expiresAt }
}`

async function view(file) {
  shown = file
  $('viewer').hidden = false
  $('title').textContent = file.name
  const { storageDownload } = await gql(download, { id: file.id })
  $('original').href = storageDownload.url
  await variant()
}

function close() {
  shown = null
  $('viewer').hidden = true
}

// variant asks for the picture as the form says, and says what came.
async function variant() {
  const image = {}
  for (const [name, value] of new FormData($('image'))) {
    if (value === '') continue
    image[name] = ['fit', 'format'].includes(name) ? value : name === 'grayscale' ? true : Number(value)
  }
  try {
    const { storageDownload } = await gql(download, { id: shown.id, image })
    const began = performance.now()
    const answer = await fetch(storageDownload.url)
    const blob = await answer.blob()
    if (!answer.ok) throw new Error(`${answer.status}: ${await blob.text()}`)
    await draw(blob, performance.now() - began)
  } catch (error) {
    $('picture').removeAttribute('src')
    $('facts').textContent = error.message
  }
}

async function draw(blob, took) {
  URL.revokeObjectURL($('picture').src)
  $('picture').src = URL.createObjectURL(blob)
  await $('picture').decode()
  const { naturalWidth: width, naturalHeight: height } = $('picture')
  $('facts').textContent = `${blob.type}, ${width} × ${height}, ${bytes(blob.size)}, ${Math.round(took)} ms`
}

// --- small things -----------------------------------------------------------

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

function bytes(n) {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let i = 0
  while (n >= 1000 && i < units.length - 1) { n /= 1000; i++ }
  return `${i ? n.toFixed(1) : n} ${units[i]}`
}

// Three uploads at a time: enough to fill the line, few enough to watch.
async function uploadAll(files) {
  const queue = [...files]
  const worker = async () => { while (queue.length) await upload(queue.shift()) }
  await Promise.all([worker(), worker(), worker()])
}

$('user').append(...users.map((user) => element('option', { textContent: user.name })))
$('user').onchange = (event) => { me = users[event.target.selectedIndex]; close(); list() }
$('picker').onchange = (event) => { uploadAll(event.target.files); event.target.value = '' }
$('image').oninput = () => { clearTimeout(variant.timer); variant.timer = setTimeout(variant, 250) }
$('image').onsubmit = (event) => event.preventDefault()
$('drop').ondragover = (event) => { event.preventDefault(); $('drop').classList.add('over') }
$('drop').ondragleave = () => $('drop').classList.remove('over')
$('drop').ondrop = (event) => {
  event.preventDefault()
  $('drop').classList.remove('over')
  uploadAll(event.dataTransfer.files)
}
await list()
