package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"sync"
	"testing"
)

// fakeServer is as much of the registry's API as the client uses.
type fakeServer struct {
	*httptest.Server

	mutex    sync.Mutex
	schemas  []stored            // id - 1
	subjects map[string][]stored // the versions
	requests map[string]int      // by method and path
	// intercept answers instead of the registry if it returns true.
	intercept func(w http.ResponseWriter, r *http.Request) bool
}

type stored struct {
	ID         int               `json:"id"`
	Subject    string            `json:"subject,omitempty"`
	Version    int               `json:"version,omitempty"`
	Schema     string            `json:"schema"`
	SchemaType string            `json:"schemaType,omitempty"`
	References []storedReference `json:"references,omitempty"`

	deleted bool
}

type storedReference struct {
	Name    string `json:"name"`
	Subject string `json:"subject"`
	Version int    `json:"version"`
}

func newFakeServer(t *testing.T) *fakeServer {
	f := &fakeServer{subjects: map[string][]stored{}, requests: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /schemas/ids/{id}", f.schema)
	mux.HandleFunc("GET /schemas/ids/{id}/versions", f.users)
	mux.HandleFunc("GET /subjects/{subject}/versions", f.versions)
	mux.HandleFunc("GET /subjects/{subject}/versions/{version}", f.version)
	mux.HandleFunc("DELETE /subjects/{subject}", f.delete)
	mux.HandleFunc("POST /subjects/{subject}/versions", f.register)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		f.requests[r.Method+" "+r.URL.Path]++
		if f.intercept == nil || !f.intercept(w, r) {
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeServer) asked(request string) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.requests[request]
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	_ = json.NewEncoder(w).Encode(value)
}

func fail(w http.ResponseWriter, status, code int, message string) {
	w.WriteHeader(status)
	answer(w, map[string]any{"error_code": code, "message": message})
}

func (f *fakeServer) schema(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 1 || id > len(f.schemas) {
		fail(w, http.StatusNotFound, 40403, "Schema "+r.PathValue("id")+" not found")
		return
	}
	found := f.schemas[id-1]
	found.ID = 0
	answer(w, found)
}

func (f *fakeServer) users(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || id < 1 || id > len(f.schemas) {
		fail(w, http.StatusNotFound, 40403, "Schema not found")
		return
	}
	users := []map[string]any{}
	for subject, versions := range f.subjects {
		for _, v := range versions {
			if v.ID == id && !v.deleted {
				users = append(users, map[string]any{"subject": subject, "version": v.Version})
			}
		}
	}
	answer(w, users)
}

func (f *fakeServer) versions(w http.ResponseWriter, r *http.Request) {
	if numbers := f.live(r.PathValue("subject")); len(numbers) > 0 {
		answer(w, numbers)
		return
	}
	fail(w, http.StatusNotFound, 40401, "Subject '"+r.PathValue("subject")+"' not found.")
}

// live are the numbers of a subject's versions that are not deleted.
func (f *fakeServer) live(subject string) []int {
	var numbers []int
	for _, v := range f.subjects[subject] {
		if !v.deleted {
			numbers = append(numbers, v.Version)
		}
	}
	return numbers
}

func (f *fakeServer) delete(w http.ResponseWriter, r *http.Request) {
	subject := r.PathValue("subject")
	numbers := f.live(subject)
	switch {
	case len(f.subjects[subject]) == 0:
		fail(w, http.StatusNotFound, 40401, "Subject '"+subject+"' not found.")
		return
	case len(numbers) == 0:
		fail(w, http.StatusNotFound, 40404, "Subject '"+subject+"' was soft deleted.")
		return
	case r.URL.Query().Has("permanent"):
		fail(w, http.StatusUnprocessableEntity, 42200, "Ids must stay readable.")
		return
	}
	for i := range f.subjects[subject] {
		f.subjects[subject][i].deleted = true
	}
	answer(w, numbers)
}

func (f *fakeServer) version(w http.ResponseWriter, r *http.Request) {
	versions, live := f.subjects[r.PathValue("subject")], f.live(r.PathValue("subject"))
	hidden := r.URL.Query().Get("deleted") != "true"
	if len(versions) == 0 || hidden && len(live) == 0 {
		fail(w, http.StatusNotFound, 40401, "Subject '"+r.PathValue("subject")+"' not found.")
		return
	}
	number := 0
	if len(live) > 0 {
		number = live[len(live)-1]
	}
	if text := r.PathValue("version"); text != "latest" {
		number, _ = strconv.Atoi(text)
	}
	if number < 1 || number > len(versions) || hidden && versions[number-1].deleted {
		fail(w, http.StatusNotFound, 40402, "Version not found.")
		return
	}
	answer(w, versions[number-1])
}

func (f *fakeServer) register(w http.ResponseWriter, r *http.Request) {
	var schema stored
	if err := json.NewDecoder(r.Body).Decode(&schema); err != nil {
		fail(w, http.StatusBadRequest, 400, err.Error())
		return
	}
	if schema.SchemaType != "PROTOBUF" && !json.Valid([]byte(schema.Schema)) {
		fail(w, http.StatusUnprocessableEntity, 42201, "Either the input schema or one its references is invalid")
		return
	}
	for i, known := range f.schemas {
		if known.Schema == schema.Schema && known.SchemaType == schema.SchemaType && reflect.DeepEqual(known.References, schema.References) {
			schema.ID = i + 1
		}
	}
	if schema.ID == 0 {
		f.schemas = append(f.schemas, schema)
		schema.ID = len(f.schemas)
	}
	subject := r.PathValue("subject")
	for _, v := range f.subjects[subject] {
		if v.ID == schema.ID && !v.deleted {
			answer(w, map[string]any{"id": schema.ID})
			return
		}
	}
	schema.Subject, schema.Version = subject, len(f.subjects[subject])+1
	f.subjects[subject] = append(f.subjects[subject], schema)
	answer(w, map[string]any{"id": schema.ID})
}

// put makes a schema the newest of a subject, past the client.
func (f *fakeServer) put(subject string, id int, text string, references ...storedReference) {
	schema := stored{
		ID: id, Subject: subject, Version: len(f.subjects[subject]) + 1, Schema: text, SchemaType: "JSON", References: references,
	}
	for len(f.schemas) < id {
		f.schemas = append(f.schemas, stored{Schema: fmt.Sprintf(`{"title":"filler %d"}`, len(f.schemas))})
	}
	f.schemas[id-1] = schema
	f.subjects[subject] = append(f.subjects[subject], schema)
}
