package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/genai"
)

// gemini is google.golang.org/genai.
type gemini struct{}

func (gemini) name() string   { return "go-genai" }
func (gemini) module() string { return "google.golang.org/genai" }
func (gemini) api() string    { return "gemini" }

func (gemini) status(err error) int {
	var failure genai.APIError
	if errors.As(err, &failure) {
		return failure.Code
	}
	return 0
}

func connectGemini(ctx context.Context, at target) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{
		APIKey:      at.key,
		Backend:     genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: at.address},
	})
}

func (gemini) create(ctx context.Context, at target) (string, error) {
	return generate(ctx, at, nil)
}

func (gemini) extract(ctx context.Context, at target) (string, error) {
	return generate(ctx, at, &genai.GenerateContentConfig{
		ResponseMIMEType:   "application/json",
		ResponseJsonSchema: citySchema,
	})
}

func generate(
	ctx context.Context, at target, config *genai.GenerateContentConfig,
) (string, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return "", err
	}
	answer, err := client.Models.GenerateContent(ctx, at.model, genai.Text(question), config)
	if err != nil {
		return "", err
	}
	return answer.Text(), nil
}

func (gemini) stream(ctx context.Context, at target) (streamed, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return streamed{}, err
	}
	all := streamed{}
	for chunk, err := range client.Models.GenerateContentStream(
		ctx, at.model, genai.Text(question), nil,
	) {
		if err != nil {
			return all, err
		}
		all.text += chunk.Text()
		if len(chunk.Candidates) > 0 {
			all.finish = string(chunk.Candidates[0].FinishReason)
		}
	}
	return all, nil
}

var geminiTools = &genai.GenerateContentConfig{
	Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name:                 "get_weather",
		Description:          "Returns the weather of a city.",
		ParametersJsonSchema: weatherSchema,
	}}}},
	ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
}

func (gemini) useTool(ctx context.Context, at target) (string, error) {
	return chatWithTool(ctx, at, func(chat *genai.Chat, part genai.Part) ([]*genai.Part, error) {
		answer, err := chat.SendMessage(ctx, part)
		if err != nil {
			return nil, err
		}
		return answer.Candidates[0].Content.Parts, nil
	})
}

func (gemini) streamTool(ctx context.Context, at target) (string, error) {
	return chatWithTool(ctx, at, func(chat *genai.Chat, part genai.Part) ([]*genai.Part, error) {
		var parts []*genai.Part
		for chunk, err := range chat.SendMessageStream(ctx, part) {
			if err != nil {
				return nil, err
			}
			if len(chunk.Candidates) > 0 && chunk.Candidates[0].Content != nil {
				parts = append(parts, chunk.Candidates[0].Content.Parts...)
			}
		}
		return parts, nil
	})
}

func (gemini) count(ctx context.Context, at target) (int, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return 0, err
	}
	answer, err := client.Models.CountTokens(ctx, at.model, genai.Text(question), nil)
	if err != nil {
		return 0, err
	}
	return int(answer.TotalTokens), nil
}

func (gemini) listModels(ctx context.Context, at target) ([]string, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return nil, err
	}
	var ids []string
	for model, err := range client.Models.All(ctx) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimPrefix(model.Name, "models/"))
	}
	return ids, nil
}

func (gemini) embed(ctx context.Context, at target) ([][]float32, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return nil, err
	}
	contents := append(genai.Text("a"), genai.Text("b")...)
	answer, err := client.Models.EmbedContent(ctx, at.model, contents, &genai.EmbedContentConfig{
		OutputDimensionality: genai.Ptr[int32](2),
	})
	if err != nil {
		return nil, err
	}
	var vectors [][]float32
	for _, embedding := range answer.Embeddings {
		vectors = append(vectors, embedding.Values)
	}
	return vectors, nil
}

// chatWithTool answers the call of the first turn, and returns the text of the second.
func chatWithTool(
	ctx context.Context, at target, turn func(*genai.Chat, genai.Part) ([]*genai.Part, error),
) (string, error) {
	client, err := connectGemini(ctx, at)
	if err != nil {
		return "", err
	}
	chat, err := client.Chats.Create(ctx, at.model, geminiTools, nil)
	if err != nil {
		return "", err
	}
	parts, err := turn(chat, genai.Part{Text: question})
	if err != nil {
		return "", err
	}
	var result *genai.FunctionResponse
	for _, part := range parts {
		if part.FunctionCall == nil {
			continue
		}
		if result != nil {
			return "", errors.New("more than one call")
		}
		input, err := json.Marshal(part.FunctionCall.Args)
		if err != nil {
			return "", err
		}
		output, err := getWeather(string(input))
		if err != nil {
			return "", err
		}
		result = &genai.FunctionResponse{
			ID:       part.FunctionCall.ID,
			Name:     part.FunctionCall.Name,
			Response: map[string]any{"output": output},
		}
	}
	if result == nil {
		return "", fmt.Errorf("no call in %d parts", len(parts))
	}
	parts, err = turn(chat, genai.Part{FunctionResponse: result})
	if err != nil {
		return "", err
	}
	text := ""
	for _, part := range parts {
		if !part.Thought {
			text += part.Text
		}
	}
	return text, nil
}
