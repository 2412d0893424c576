package graphql

// VirusValues are the columns of a new row in storage.virus. The file may be
// gone, the record stays.
type VirusValues struct {
	ID          string            `json:"id"`
	FileID      *string           `json:"fileId,omitempty"`
	Filename    string            `json:"filename"`
	Virus       string            `json:"virus"` // the scanner's name for it
	UserSession map[string]string `json:"userSession"`
}
